import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { HorizontalPodAutoscaler } from "kubernetes-types/autoscaling/v2.d.ts";
import type { Job } from "kubernetes-types/batch/v1.d.ts";
import type {
  ConfigMap,
  Container,
  HTTPGetAction,
  PodSpec,
  Secret,
  Service,
} from "kubernetes-types/core/v1.d.ts";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.d.ts";
import { parseAllDocuments } from "yaml";
import { readProcfile } from "#demo/roles.ts";
import { loadConfig, missingSettings, settings } from "#src/infrastructure/config.ts";
import { provided } from "#test/harness/provided.ts";

interface Kinds {
  "apps/v1 Deployment": Deployment;
  "autoscaling/v2 HorizontalPodAutoscaler": HorizontalPodAutoscaler;
  "batch/v1 Job": Job;
  "policy/v1 PodDisruptionBudget": PodDisruptionBudget;
  "v1 ConfigMap": ConfigMap;
  "v1 Secret": Secret;
  "v1 Service": Service;
}
type Kind = keyof Kinds;
interface Manifest {
  apiVersion: string;
  kind: string;
}

const folder = "docs/deploy/kubernetes";
const manifests = readdirSync(folder).flatMap((file) =>
  parseAllDocuments(readFileSync(join(folder, file), "utf8")).map((document) => {
    expect(document.errors, file).to.deep.equal([]);
    return document.toJS() as Manifest;
  }),
);
const all = <K extends Kind>(kind: K): Kinds[K][] =>
  manifests.filter((one) => `${one.apiVersion} ${one.kind}` === kind) as Kinds[K][];

/** What the compiler has against these as objects of Kubernetes: unknown and missing fields, values of another type. */
async function faultsOf(objects: readonly Manifest[]): Promise<string> {
  const place = join(resolve(provided("TEST_DATA")), "kubernetes");
  mkdirSync(place, { recursive: true });
  try {
    const lines = objects.map(({ apiVersion, kind, ...rest }, n) => {
      const group = apiVersion === "v1" ? "core/v1" : apiVersion;
      const type = `import("kubernetes-types/${group}.d.ts").${kind}`;
      return `export const object${n}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest }, null, 1)};`;
    });
    writeFileSync(join(place, "objects.ts"), lines.join("\n"));
    // Found upwards from the file itself, which lies in the project's folder.
    const compilerOptions = {
      ...{ strict: true, noEmit: true, types: [], module: "nodenext", skipLibCheck: true },
      ...{
        allowImportingTsExtensions: true,
        paths: { "kubernetes-types/*": [`${resolve("node_modules/kubernetes-types")}/*`] },
      },
    };
    writeFileSync(
      join(place, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["objects.ts"] }),
    );
    return await new Promise((done) => {
      const tsc = resolve("node_modules/typescript/bin/tsc");
      execFile(process.execPath, [tsc, "-p", place], (error, stdout, stderr) =>
        done(error === null ? "" : stdout + stderr || error.message),
      );
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const deployments = all("apps/v1 Deployment");
const [job] = all("batch/v1 Job");
const specOf = (owner: Deployment | Job): PodSpec => {
  const spec = owner.spec?.template.spec;
  if (spec === undefined) throw new Error("no pod");
  return spec;
};
const containerOf = (owner: Deployment | Job): Container => {
  expect(specOf(owner).containers).to.have.length(1);
  return specOf(owner).containers[0]!;
};
const roleOf = (owner: Deployment | Job): string =>
  owner.metadata?.labels?.["app.kubernetes.io/component"] ?? "";
const owners = [...deployments, ...(job === undefined ? [] : [job])];

describe("the manifests for Kubernetes", function () {
  this.timeout(60_000);

  it("have the fields and types of Kubernetes, and of kinds that are looked at here", async () => {
    const kinds = new Set(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
    expect([...kinds].toSorted()).to.deep.equal([
      "apps/v1 Deployment",
      "autoscaling/v2 HorizontalPodAutoscaler",
      "batch/v1 Job",
      "policy/v1 PodDisruptionBudget",
      "v1 ConfigMap",
      "v1 Secret",
      "v1 Service",
    ]);
    expect(await faultsOf(manifests)).to.equal("");
    const wrong = structuredClone(deployments) as (Deployment & Manifest)[];
    Object.assign(containerOf(wrong[0]!), { imagePullPolice: "Always" });
    wrong[1]!.spec!.replicas = "2" as unknown as number;
    expect(await faultsOf(wrong)).to.match(/imagePullPolice[^]*Type 'string' is not assignable/);
  });

  it("start each line of the Procfile, with settings that there are", () => {
    expect(owners.map(roleOf)).to.have.members([...readProcfile().keys()]);
    for (const owner of owners) {
      const { command, envFrom = [] } = containerOf(owner);
      expect(command, roleOf(owner)).to.deep.equal(readProcfile().get(roleOf(owner)));
      // As the pod gets them: of two values the last one.
      const env: Record<string, string> = {};
      for (const { configMapRef, secretRef } of envFrom) {
        const name = configMapRef?.name ?? secretRef?.name;
        const maps = [...all("v1 ConfigMap"), ...all("v1 Secret")];
        const kind = configMapRef === undefined ? "Secret" : "ConfigMap";
        const source = maps.find((one) => one.kind === kind && one.metadata?.name === name)!;
        Object.assign(env, source.data, "stringData" in source ? source.stringData : {});
      }
      const known = Object.values(settings).map((setting) => setting.env as string);
      expect(Object.keys(env).filter((name) => !known.includes(name))).to.deep.equal([]);
      const config = loadConfig(env);
      expect(missingSettings(config, ["databaseUrl", "redisUrl", "reporterPepper"])).to.equal(null);
      const user = new URL(config.databaseUrl).username;
      const isOwner = ["release", "upkeep"].includes(roleOf(owner));
      expect(user, roleOf(owner)).to.equal(isOwner ? "fuelmark" : "fuelmark_app");
      const longestS = (config.stopMs + (roleOf(owner) === "web" ? config.leaveMs : 0)) / 1000;
      expect(specOf(owner).terminationGracePeriodSeconds, roleOf(owner)).to.be.above(longestS);
      for (const { containerPort } of containerOf(owner).ports ?? [])
        expect(containerPort).to.equal(config.port);
    }
  });

  it("send nobody to a pod that stops, before its port closes", () => {
    const web = deployments.find((one) => roleOf(one) === "web")!;
    const { readinessProbe: ready, livenessProbe, startupProbe, ports } = containerOf(web);
    const paths = [ready, livenessProbe, startupProbe].map((probe) => probe?.httpGet);
    expect(paths.map((get: HTTPGetAction | undefined) => get?.path)).to.deep.equal([
      ...["/readyz", "/healthz", "/healthz"],
    ]);
    for (const get of paths) expect(get?.port).to.equal(ports?.[0]?.name);
    const config = loadConfig(all("v1 ConfigMap")[0]!.data);
    const noticedS = (ready!.periodSeconds! + ready!.timeoutSeconds!) * ready!.failureThreshold!;
    expect(config.leaveMs / 1000).to.be.above(noticedS);
    expect(web.spec?.strategy?.rollingUpdate?.maxUnavailable).to.equal(0);
    expect(web.spec?.replicas).to.be.at.least(2);
    const [service] = all("v1 Service");
    expect(service?.spec?.selector).to.deep.equal(web.spec?.selector.matchLabels);
    expect(service?.spec?.ports?.[0]?.targetPort).to.equal(ports?.[0]?.name);
    // The others have no port to ask.
    for (const owner of owners.filter((one) => roleOf(one) !== "web"))
      expect(containerOf(owner)).to.not.have.any.keys("ports", "readinessProbe", "livenessProbe");
  });

  it("run as an ordinary user who can write to /tmp alone, within bounds", () => {
    for (const owner of owners) {
      const spec = specOf(owner);
      expect(spec.securityContext).to.include({ runAsNonRoot: true, runAsUser: 1000 });
      expect(spec).to.include({ automountServiceAccountToken: false, enableServiceLinks: false });
      const { securityContext, resources, volumeMounts, image } = containerOf(owner);
      expect(securityContext).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(resources?.requests).to.have.keys("cpu", "memory");
      expect(resources?.limits).to.have.keys("memory");
      expect(volumeMounts).to.deep.equal([{ name: "tmp", mountPath: "/tmp" }]);
      expect(image).to.match(/:\d+\.\d+\.\d+$/);
      const labels = owner.spec?.template.metadata?.labels;
      if (owner !== job)
        expect((owner as Deployment).spec?.selector.matchLabels).to.deep.equal(labels);
    }
  });

  it("let marks grow with their backlog, and keep one of each when a node is emptied", () => {
    const [scaler] = all("autoscaling/v2 HorizontalPodAutoscaler");
    const marks = deployments.find((one) => roleOf(one) === "marks")!;
    expect(scaler?.spec?.scaleTargetRef).to.include({
      kind: "Deployment",
      name: marks.metadata?.name,
    });
    // Else each `kubectl apply` would set back what the autoscaler has set.
    expect(marks.spec).to.not.have.property("replicas");
    const metric = scaler?.spec?.metrics?.[0]?.external?.metric.name ?? "";
    expect(readFileSync("api/metrics/gauges.ts", "utf8")).to.include(`"${metric}"`);
    const budgets = all("policy/v1 PodDisruptionBudget");
    const kept = budgets.map(
      ({ spec }) => spec?.selector?.matchLabels?.["app.kubernetes.io/component"],
    );
    expect(kept).to.have.members(["web", "marks"]);
    for (const { spec } of budgets) expect(spec).to.deep.include({ maxUnavailable: 1 });
  });
});
