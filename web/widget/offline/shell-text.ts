/**
 * The page at the root (`text`) as it is shown when the service cannot be asked: without the stations that came with it,
 * whose ages were told when it was written, and for `station` if one is named (decisions 15.19).
 */
export function shellFor(text: string, station: string): string {
  const bare = text.replace(/<section id="early"[\s\S]*?<\/section>/, "");
  if (station === "") return bare;
  return bare
    .replace('name="root" content=""', 'name="root" content="../"')
    .replace('name="station" content=""', () => `name="station" content="${escaped(station)}"`)
    .replaceAll(/(href|src)="(?=(?:assets|pictures)\/|manifest\.webmanifest)/g, '$1="../');
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
