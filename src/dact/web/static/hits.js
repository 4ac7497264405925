// What is under the pointer.

/** The node and the route of the best solution near a place of the map; -1 where there is none. */
export function under(map, x, y) {
  const places = map.places ?? [];
  const node = nearest(places, 9, ([px, py]) => Math.hypot(px - x, py - y));
  if (!map.best || !map.shows.best) return { node, route: -1 };
  if (node >= 0) return { node, route: map.best.routes.findIndex((route) => route.includes(node)) };
  const route = nearest(map.best.routes, 7, (each) => {
    const nodes = map.legs(each);
    let far = Infinity;
    for (let at = 1; at < nodes.length; at += 1) far = Math.min(far, toLeg(x, y, places[nodes[at - 1]], places[nodes[at]]));
    return far;
  });
  return { node, route };
}

function nearest(items, reach, distance) {
  let [found, least] = [-1, reach];
  items.forEach((item, index) => {
    const far = distance(item);
    if (far < least) [found, least] = [index, far];
  });
  return found;
}

function toLeg(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}
