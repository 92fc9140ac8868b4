// Fills a rectangle with rectangles of given areas, as square as can be (Bruls, Huizing and van Wijk).

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function worst(row: number[], side: number): number {
  const sum = row.reduce((a, b) => a + b, 0);
  return Math.max((side * side * Math.max(...row)) / (sum * sum), (sum * sum) / (side * side * Math.min(...row)));
}

/// Sizes have to be positive, the largest first.
export function squarify(sizes: number[], box: Box): Box[] {
  const total = sizes.reduce((a, b) => a + b, 0);
  const areas = sizes.map((size) => (size / total) * box.width * box.height);
  const made: Box[] = [];
  let rest = { ...box };
  for (let i = 0; i < areas.length;) {
    const side = Math.max(1e-9, Math.min(rest.width, rest.height));
    const row = [areas[i]!];
    while (i + row.length < areas.length && worst([...row, areas[i + row.length]!], side) <= worst(row, side)) row.push(areas[i + row.length]!);
    const wide = rest.width >= rest.height;
    const thick = row.reduce((a, b) => a + b, 0) / side;
    let along = 0;
    for (const area of row) {
      const long = area / Math.max(thick, 1e-9);
      made.push(wide ? { x: rest.x, y: rest.y + along, width: thick, height: long } : { x: rest.x + along, y: rest.y, width: long, height: thick });
      along += long;
    }
    rest = wide ? { ...rest, x: rest.x + thick, width: rest.width - thick } : { ...rest, y: rest.y + thick, height: rest.height - thick };
    i += row.length;
  }
  return made;
}
