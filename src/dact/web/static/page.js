// What all parts of the page share: its elements, its state, and how it speaks.

export const $ = (id) => document.getElementById(id);

export const state = {
  limits: null,
  dropped: null, // The file that was chosen last, good or bad.
  file: null, // {name, data} of the file to solve; null while nodes are clicked.
  beside: {}, // {matrix, start}: files that go with the file, each {name, data}.
  run: null, // {id, instance, abort, best}
};

export function complain(text) {
  $("error").textContent = text;
  $("error").hidden = !text;
}

/** What a reader should know of a file that is not wrong. */
export function note(texts) {
  $("note").textContent = texts.join(" ");
  $("note").hidden = !texts.length;
}

/** Screen readers speak the status, so it is touched only when it changes. */
export function status(text) {
  if ($("status").textContent !== text) $("status").textContent = text;
}

export function cost(value) {
  if (!Number.isFinite(value)) return "–";
  if (state.run?.instance?.whole || Math.abs(value) >= 100_000) return Math.round(value).toLocaleString("en");
  if (Math.abs(value) < 1000) return value.toPrecision(5);
  return value.toLocaleString("en", { maximumFractionDigits: 2, minimumFractionDigits: 2 });
}

export const isSketching = () => $("sketch").getAttribute("aria-pressed") === "true";
