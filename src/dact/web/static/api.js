// Talking to the server: files in, frames out.

export async function limits() {
  return (await fetch("/api/limits")).json();
}

export async function inspect(file) {
  return (await post("/api/instance", file)).json();
}

export async function tell(run, command) {
  await post(`/api/runs/${run}/${command}`, {});
}

/** Calls `onLine` with each object the server sends; aborting the signal ends the run. */
export async function search(order, onLine, signal) {
  const response = await post("/api/runs", order, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) onLine(JSON.parse(line));
  }
}

export async function download(run, suffix, name) {
  const response = await checked(await fetch(`/api/runs/${run}/answer${suffix}`));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${name}${suffix}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function encoded(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}

async function post(path, content, signal) {
  const headers = { "content-type": "application/json" };
  return checked(await fetch(path, { method: "POST", headers, body: JSON.stringify(content), signal }));
}

async function checked(response) {
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  throw new Error(error);
}
