// The page: what its buttons do.

import * as api from "./api.js";
import { Curve } from "./curve.js";
import { MapView } from "./map.js";
import { $, complain, cost, note, state, status } from "./page.js";
import * as pointing from "./pointing.js";
import { RouteList } from "./routes.js";
import { PLANE, Sketch } from "./sketch.js";

const MAP_KEYS = "keys on the map: ← → pick a route, Esc all, + − 0 zoom";
const SKETCH_KEYS = "keys on the map: ← ↑ ↓ → move, Enter adds a node, Backspace takes it back";
const CAPACITY = 10;
const sketch = new Sketch();
const map = new MapView($("map"));
const curve = new Curve($("curve"));
const list = new RouteList($("routes"), { hover: (index) => map.hover(index), pick });

// Files and clicked nodes

/** Another file: what went with the last one does not go with it. */
function choose(file) {
  unlink();
  load(file);
}

function unlink() {
  state.beside = {};
  $("matrix").value = $("old").value = "";
}

/** A matrix or an old solution that goes with the file; none where it was taken back. */
async function link(part, id) {
  complain("");
  const [chosen] = $(id).files;
  try {
    state.beside = { ...state.beside, [part]: chosen ? await content(chosen) : null };
  } catch (error) {
    $(id).value = "";
    complain(error.message);
    return;
  }
  if (state.dropped) load(state.dropped);
}

async function content(chosen) {
  const { bytes } = state.limits;
  if (chosen.size > bytes) {
    throw new Error(`${chosen.name} is too large: this page takes ${(bytes / 2 ** 20).toFixed(1)} MiB at most`);
  }
  return { name: chosen.name, data: await api.encoded(chosen) };
}

async function load(chosen) {
  complain("");
  state.dropped = chosen;
  try {
    const file = await content(chosen);
    const instance = await api.inspect({ ...file, ...reading() });
    leave();
    state.file = file;
    sketching(false);
    map.set(instance);
    introduce(instance);
  } catch (error) {
    complain(error.message);
  }
}

function introduce(instance) {
  const parts = [instance.name, instance.title, `${instance.points.length} nodes${instance.kilometres ? ", in km" : ""}`];
  if (instance.capacity) parts.push(`capacity ${instance.capacity}`);
  if (instance.vehicles) parts.push(`${instance.vehicles} vehicles at most`);
  $("facts").textContent = parts.join(" · ");
  $("own").textContent = instance.suffix;
  note(instance.notes);
  forget();
}

/** Nothing is left of the last run. */
function forget() {
  curve.clear();
  list.show(null);
  for (const id of ["best", "current", "gap", "steps", "clock"]) $(id).textContent = "–";
  $("progress").value = 0;
  $("downloads").disabled = true;
  status("ready");
}

/** A number that may be left out. */
function optional(id) {
  return $(id).value === "" ? null : Number($(id).value);
}

/** How a file is to be read, where it does not say so itself. */
function reading() {
  const numbers = { capacity: optional("capacity"), demand_unit: optional("demand-unit"), vehicles: optional("vehicles") };
  return { ...numbers, ...state.beside };
}

function sketching(on) {
  $("sketch").setAttribute("aria-pressed", String(on));
  $("map").classList.toggle("sketching", on);
  $("undo").disabled = $("clear").disabled = $("kind").disabled = !on;
  $("needs-many").hidden = !on || !sketch.many;
  $("capacity").placeholder = !state.file && sketch.many ? String(CAPACITY) : "from file";
  $("keys").textContent = on ? SKETCH_KEYS : MAP_KEYS;
}

function showSketch() {
  leave();
  complain("");
  note([]);
  state.file = state.dropped = null;
  unlink();
  sketch.many = $("kind").value === "many";
  sketching(true);
  const { cursor } = map;
  map.set(sketch.instance(), PLANE);
  map.cursor = cursor;
  const count = sketch.nodes.length;
  $("facts").textContent = count ? `sketch · ${count} node${count === 1 ? "" : "s"}`
    : sketch.many ? "Click the depot first, then customers; or drop a file." : "Click nodes onto the plane, or drop a file.";
  $("own").textContent = sketch.many ? ".sol" : ".tour";
  forget();
}

function place(x, y) {
  add((demand) => sketch.add(x, y, demand), 1);
}

function add(how, count) {
  const { nodes } = state.limits;
  if (sketch.nodes.length + count > nodes) {
    complain(`this page takes ${nodes} nodes at most`);
    return;
  }
  how(Math.max(0, Math.round(Number($("demand").value))));
  showSketch();
}

function undo() {
  sketch.nodes.pop();
  showSketch();
}

function order() {
  const number = (id) => Number($(id).value);
  const settings = { search: $("search").value, seconds: number("seconds"), walks: number("walks"), seed: number("seed") };
  if (state.file) return { ...state.file, ...settings, ...reading() };
  if (!sketch.nodes.length) throw new Error("there are no nodes yet: drop a file, or click some onto the plane");
  const vehicles = sketch.many ? { capacity: optional("capacity") ?? CAPACITY, vehicles: optional("vehicles") } : {};
  return { name: "sketch.csv", data: btoa(sketch.csv()), ...settings, ...vehicles };
}

// The run

async function start() {
  complain("");
  const mine = { abort: new AbortController() };
  try {
    const asked = order();
    leave();
    state.run = mine;
    busy(true);
    status("preparing");
    await api.search(asked, (line) => state.run === mine && receive(line), mine.abort.signal);
  } catch (error) {
    if (error.name !== "AbortError") complain(error instanceof TypeError ? "the server does not answer" : error.message);
  }
  if (state.run !== mine) return;
  busy(false);
  if (["preparing", "running", "paused"].includes($("status").textContent)) status("ended");
}

/** A run that is left ends, and so does one whose tab is closed: the server notices that nobody reads any more. */
function leave() {
  state.run?.abort.abort();
  state.run = null;
  busy(false);
}

function receive(line) {
  if (line.instance) {
    begin(line);
    return;
  }
  status(line.status);
  $("pause").textContent = line.status === "paused" ? "Go on" : "Pause";
  if (line.message) complain(line.message);
  if (line.best) better(line.best);
  if (line.steps === undefined) return;
  const over = !line.current;
  map.setCurrent(over ? null : line.current);
  curve.add(line.seconds, state.run.best.cost, over ? NaN : line.current_cost);
  $("current").textContent = over ? "–" : cost(line.current_cost);
  $("steps").textContent = line.steps.toLocaleString("en");
  $("clock").textContent = line.seconds.toFixed(1);
  $("progress").value = line.fraction;
}

function begin({ run, instance }) {
  state.run.id = run;
  state.run.instance = instance;
  map.set(instance, state.file ? null : PLANE);
  introduce(instance);
  sketching(false);
}

function better(best) {
  state.run.best = best;
  map.setBest(best);
  $("best").textContent = cost(best.cost);
  $("gap").textContent = best.gap === null ? "–" : `${best.gap.toFixed(2)} %`;
  $("downloads").disabled = false;
  showRoutes();
}

function showRoutes() {
  const { run } = state;
  if (run?.best) list.show(run.best, map.slots, map.picked, run.instance);
}

/** Pick a route out, or none where it is picked out already. */
function pick(index) {
  map.pick(index === map.picked ? -1 : index);
  showRoutes();
}

function busy(on) {
  $("start").textContent = on ? "Restart" : "Start";
  $("pause").disabled = $("stop").disabled = !on;
  if (!on) $("pause").textContent = "Pause";
}

function tell(command) {
  if (state.run?.id) api.tell(state.run.id, command).catch((error) => complain(error.message));
}

function download(event) {
  const { run } = state;
  const { suffix } = event.target.dataset;
  if (!run?.id || suffix === undefined) return;
  api.download(run.id, suffix || run.instance.suffix, run.instance.name).catch((error) => complain(error.message));
}

// Everything together

function theme(name) {
  document.documentElement.dataset.theme = name;
  map.draw();
  curve.draw();
  showRoutes();
}

function listen() {
  const on = (id, name, action) => $(id).addEventListener(name, action);
  on("order", "submit", (event) => { event.preventDefault(); start(); });
  on("pause", "click", () => tell($("pause").textContent === "Pause" ? "pause" : "go-on"));
  on("stop", "click", () => tell("stop"));
  on("file", "change", () => { if ($("file").files.length) choose($("file").files[0]); $("file").value = ""; });
  for (const id of ["capacity", "demand-unit", "vehicles"]) on(id, "change", () => state.dropped && load(state.dropped));
  on("matrix", "change", () => link("matrix", "matrix"));
  on("old", "change", () => link("start", "old"));
  on("sketch", "click", () => { showSketch(); $("map").focus(); });
  on("scatter", "click", () => add((demand) => sketch.scatter(20, demand), 20));
  on("undo", "click", undo);
  on("clear", "click", () => { sketch.nodes = []; showSketch(); });
  on("kind", "change", showSketch);
  on("downloads", "click", download);
  on("theme", "click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  for (const name of ["best", "current"]) on(`show-${name}`, "change", (event) => map.show(name, event.target.checked));
  pointing.listen(map, { place, undo, pick });
}

function listenForFiles() {
  const over = (is) => document.body.classList.toggle("over", is);
  document.addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  document.addEventListener("dragleave", () => over(false));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    if (event.dataTransfer.files.length) choose(event.dataTransfer.files[0]);
  });
}

async function open() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  state.limits = await api.limits();
  $("seconds").max = state.limits.seconds;
  $("walks").max = state.limits.walks;
  listen();
  listenForFiles();
  showSketch();
}

open();
