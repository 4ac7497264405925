// Cost over time: the best as a line of steps, the current one behind it.

import { Canvas } from "./canvas.js";
import { css, pen } from "./colours.js";

const LEFT = 52;
const BOTTOM = 18;
const TOP = 8;
const EARLY = 0.05;
const MOST = 4000;

const axisText = (cost) => (Math.abs(cost) >= 1000 ? Math.round(cost).toLocaleString("en") : cost.toPrecision(4));

export class Curve extends Canvas {
  constructor(canvas) {
    super(canvas);
    this.clear();
  }

  clear() {
    this.points = [];
    this.draw();
  }

  /** Beyond some thousand points every second one is dropped: a screen has no more columns. */
  add(seconds, best, current) {
    this.points.push({ seconds, best, current });
    if (this.points.length > MOST) this.points = this.points.filter((_, index) => index % 2 === 0);
    this.draw();
  }

  paint(ink, wide, high) {
    ink.font = "11px system-ui, sans-serif";
    if (!this.points.length) return;
    const range = this.range();
    const x = (seconds) => LEFT + (seconds / range.seconds) * (wide - LEFT - 6);
    const y = (cost) => TOP + ((range.high - cost) / (range.high - range.low)) * (high - TOP - BOTTOM);
    this.paintAxes(ink, range, x, y, wide, high);
    ink.save();
    ink.beginPath();
    ink.rect(LEFT, TOP - 2, wide - LEFT, high - TOP - BOTTOM + 4);
    ink.clip();
    this.paintCurrent(ink, x, y);
    this.paintBest(ink, x, y);
    ink.restore();
  }

  /** The fall of the first moments may leave the picture, so that what comes later can be seen. */
  range() {
    const seconds = this.points.at(-1).seconds || 1;
    const later = this.points.filter((point) => point.seconds >= EARLY * seconds);
    const costs = later.flatMap((point) => [point.best, point.current]).filter(Number.isFinite);
    const [low, high] = [Math.min(...costs), Math.max(...costs)];
    const room = Math.max((high - low) * 0.06, Math.abs(high) * 0.001) || 1;
    return { seconds, low: low - room, high: high + room };
  }

  paintAxes(ink, range, x, y, wide, high) {
    ink.fillStyle = css("--faint");
    ink.strokeStyle = css("--line");
    ink.lineWidth = 1;
    ink.textBaseline = "middle";
    ink.textAlign = "right";
    for (const share of [0, 0.5, 1]) {
      const cost = range.low + share * (range.high - range.low);
      const at = Math.round(y(cost)) + 0.5;
      ink.beginPath();
      ink.moveTo(LEFT, at);
      ink.lineTo(wide, at);
      ink.stroke();
      ink.fillText(axisText(cost), LEFT - 6, Math.min(high - BOTTOM, Math.max(6, at)));
    }
    ink.textBaseline = "alphabetic";
    ink.fillText(`${range.seconds.toFixed(1)} s`, wide - 2, high - 4);
    ink.textAlign = "left";
    ink.fillText("0", LEFT, high - 4);
  }

  paintCurrent(ink, x, y) {
    ink.strokeStyle = css("--current");
    ink.globalAlpha = 0.8;
    ink.beginPath();
    for (const point of this.points) if (Number.isFinite(point.current)) ink.lineTo(x(point.seconds), y(point.current));
    ink.stroke();
    ink.globalAlpha = 1;
  }

  paintBest(ink, x, y) {
    ink.strokeStyle = pen(0).colour;
    ink.lineWidth = 2;
    ink.beginPath();
    let before = null;
    for (const point of this.points) {
      if (before) ink.lineTo(x(point.seconds), y(before.best));
      ink.lineTo(x(point.seconds), y(point.best));
      before = point;
    }
    ink.stroke();
  }
}
