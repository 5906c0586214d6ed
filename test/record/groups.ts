/** Items by name, in the order in which names and items first come. */
export function groups<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): Map<string, Item[]> {
  const found = new Map<string, Item[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = found.get(name);
    if (group === undefined) found.set(name, [item]);
    else group.push(item);
  }
  return found;
}
