import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** An output of a build, as far as it is asked here. */
type Output = { type: "asset" } | { type: "chunk"; moduleIds: readonly string[] };

interface Package {
  name: string;
  version: string;
  license: string;
}

/** Down to the package itself: it may lie in the folder of another one. */
const inPackage = /^\0?(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/;
const isLicence = /^(licen[cs]e|copying|notice)/i;

/**
 * The notices of all npm packages of which these outputs contain code: name, version and the texts of their licences.
 * Throws when a package has no such text, or may not be in a bundle at all (docs/attribution.md).
 */
export function licencesOf(outputs: readonly Output[]): string {
  const ids = outputs.flatMap((output) => (output.type === "chunk" ? output.moduleIds : []));
  const folders = new Set(ids.flatMap((id) => folderOf(id) ?? []));
  const head = "Licences of the npm packages that are part of these pages.";
  return [head, ...[...folders].map(notice).sort()].join(`\n\n${"-".repeat(80)}\n\n`) + "\n";
}

/** Above each file that contains code of a package; addresses are relative to `assets/`. */
export const licencesNotice = ({ moduleIds }: { moduleIds: readonly string[] }): string =>
  moduleIds.some((id) => inPackage.test(id)) ? "/*! Licences: ../licences.txt */" : "";

/** Null for a file of ours. What a package brings along from another one is under the licence of that one. */
function folderOf(id: string): string | null {
  const [, folder, name] = inPackage.exec(id) ?? [];
  if (folder === undefined) return null;
  return existsSync(join(folder, "package.json"))
    ? folder
    : join(id.slice(0, id.indexOf("node_modules")), "node_modules", name!);
}

function notice(folder: string): string {
  const read = (file: string): string => readFileSync(join(folder, file), "utf8").trim();
  const { name, version, license } = JSON.parse(read("package.json")) as Package;
  if (license.includes("GPL"))
    throw new Error(`${name} is under ${license}: it must stay outside of bundles`);
  const names = readdirSync(folder);
  const texts = names.filter((file) => isLicence.test(file)).map(read);
  const said = names
    .filter((file) => /^readme/i.test(file))
    .map((file) => /^#+ *licen[cs]e.{200,}/ims.exec(read(file))?.[0]);
  const text = texts.length > 0 ? texts.join("\n\n") : (said[0] ?? ofProtomaps[name]);
  if (text === undefined) throw new Error(`${name} ${version} brings no text of its licence`);
  return `${name} ${version} (${license})\n\n${text}`;
}

/** Of packages whose text stands in their repository alone. */
const bsd = (copyright: string): string => `${copyright}

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`;
const ofProtomaps: Record<string, string> = {
  pmtiles: bsd("Copyright 2021 Protomaps LLC"),
  "@protomaps/basemaps": bsd("Copyright 2019-2023 Protomaps LLC, Kelso Cartography"),
};
