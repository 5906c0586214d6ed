import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { useFolder } from "#test/harness/use.ts";
import { licencesOf } from "#web/build/licences.ts";

const read = (file: string): string => readFileSync(file, "utf8");

describe("check: licences of bundled packages", () => {
  const folder = useFolder();

  it("stand beside the pages, for each package that these import and that came along", () => {
    const sources = readdirSync("web", { recursive: true, encoding: "utf8" }).filter(
      (file) => /\.tsx?$/.test(file) && !/^(dist|build)\//.test(file) && file !== "vite.config.ts",
    );
    const imported = sources.flatMap((file) =>
      [
        ...read(join("web", file)).matchAll(
          /^(?!import type).*?(?:from|^import) "((?:@[\w-]+\/)?[a-z][\w.-]*)(?:\/[^"]*)?";$/gm,
        ),
      ].map(([, name]) => name!),
    );
    expect(new Set(imported)).to.include.all.keys("preact", "maplibre-gl", "pmtiles", "idb");
    const text = read("web/dist/licences.txt");
    for (const name of [...new Set(imported), "earcut", "workbox-core", "@mapbox/unitbezier"]) {
      const { version } = JSON.parse(read(`node_modules/${name}/package.json`)) as {
        version: string;
      };
      expect(text, name).to.include(`\n${name} ${version} (`);
    }
    const parts = text.split(/^-{80}$/m).slice(1);
    for (const part of parts)
      expect(part, part.slice(0, 60)).to.match(/permission|redistribution|permitted/i);
    // Files of earlier builds stay for a day: the service worker names those of this one.
    const files = read("web/dist/service-worker.js").match(/assets\/[\w-]+\.js/g) ?? [];
    const bundles = files.map((file) => read(join("web/dist", file)));
    const ofMap = bundles.filter((text) => text.includes("MapLibre GL JS, 3-Clause BSD"));
    expect(ofMap).to.not.be.empty;
    for (const text of ofMap) expect(text).to.include("/*! Licences: ../licences.txt */");
  });

  it("let no build go on with a package that brings none, or whose licence asks to be kept apart", () => {
    const made = (name: string, license: string, files: string[]) => {
      const own = join(folder.path, "node_modules", name);
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, "package.json"), JSON.stringify({ name, version: "1.0.0", license }));
      for (const file of files) writeFileSync(join(own, file), "Permission is granted to all.");
      const chunk = {
        type: "chunk",
        moduleIds: [join(own, "src", "index.js"), "/x/own.ts"],
      } as const;
      return () => licencesOf([{ type: "asset" }, chunk]);
    };
    expect(made("well", "MIT", ["LICENSE"])()).to.include("well 1.0.0 (MIT)\n\nPermission is");
    expect(made("@its/own", "ISC", ["COPYING"])()).to.include("@its/own 1.0.0 (ISC)");
    expect(made("bare", "MIT", ["README.md"])).to.throw("bare 1.0.0 brings no text of its licence");
    expect(made("apart", "LGPL-3.0-only", ["LICENSE"])).to.throw("apart is under LGPL-3.0-only");
  });

  it("leave opening_hours, which is LGPL, outside of the roles' bundles and of the pages", () => {
    const maps = ["programs", "chunks"].flatMap((part) =>
      readdirSync(join("dist", part))
        .filter((file) => file.endsWith(".map"))
        .map((file) => join("dist", part, file)),
    );
    const packages = new Set(
      maps.flatMap((file) =>
        (JSON.parse(read(file)) as { sources: string[] }).sources.flatMap(
          (source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [],
        ),
      ),
    );
    expect(packages).to.include.all.keys("koa", "bullmq");
    for (const name of packages) {
      const about = JSON.parse(read(`node_modules/${name}/package.json`)) as { license?: string };
      expect(about.license ?? "", name).to.not.include("GPL");
    }
  });
});
