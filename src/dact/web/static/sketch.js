// Nodes clicked onto the plane. They go to the server as a CSV file, as if somebody had typed it.

export const PLANE = [[0, 0], [100, 100]];

export class Sketch {
  constructor() {
    this.nodes = [];
    this.many = false;
  }

  add(x, y, demand) {
    const inside = (value) => Math.round(10 * Math.max(0, Math.min(100, value))) / 10;
    this.nodes.push({ x: inside(x), y: inside(y), demand });
  }

  scatter(count, demand) {
    for (let made = 0; made < count; made += 1) this.add(100 * Math.random(), 100 * Math.random(), demand);
  }

  /** With vehicles the first node is the depot, which has no demand. */
  demand(index) {
    return this.many && index > 0 ? this.nodes[index].demand : 0;
  }

  csv() {
    const rows = this.nodes.map(({ x, y }, index) => (this.many ? [x, y, this.demand(index)] : [x, y]).join(","));
    return [this.many ? "x,y,demand" : "x,y", ...rows, ""].join("\n");
  }

  instance() {
    const name = (index) => (this.many && index === 0 ? "the depot" : `${this.many ? "customer" : "node"} ${number(index)}`);
    const number = (index) => (this.many ? index : index + 1);
    return {
      name: "sketch",
      points: this.nodes.map(({ x, y }) => [x, y]),
      labels: this.nodes.map((_, index) => name(index)),
      titles: this.nodes.map((_, index) => number(index)),
      depot: this.many,
      returns: true,
      demand: this.nodes.map((_, index) => this.demand(index)),
    };
  }
}
