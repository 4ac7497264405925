// A canvas that is repainted at most once per frame of the screen, in device pixels.

export class Canvas {
  constructor(canvas) {
    this.canvas = canvas;
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** Ask for a repaint in the next frame; may be called any number of times. */
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.repaint();
    });
  }

  /** Subclasses have `paint(ink, wide, high)`, sizes in CSS pixels. */
  repaint() {
    const { clientWidth: wide, clientHeight: high } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(wide * ratio), Math.round(high * ratio)];
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const ink = this.canvas.getContext("2d");
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, wide, high);
    this.paint(ink, wide, high);
  }
}
