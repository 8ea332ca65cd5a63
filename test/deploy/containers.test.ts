import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { world, type Parsed } from "../support/cli.ts";

const project = join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(join(project, name), "utf8");

interface Instruction {
  word: string;
  rest: string;
}

/** The instructions of each stage of a Dockerfile, lines that go on put together. */
function stagesOf(text: string): Instruction[][] {
  const lines = text
    .replaceAll(/^#.*\n/gmu, "")
    .replaceAll(/\\\n\s*/gu, "")
    .split("\n");
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, word, rest] = /^([A-Z]+) (.+)$/u.exec(line) ?? [];
    if (word === undefined || rest === undefined) {
      expect(line, "a line that is no instruction").toBe("");
      continue;
    }
    if (word === "FROM") stages.push([]);
    stages.at(-1)?.push({ word, rest });
  }
  return stages;
}

const stages = stagesOf(read("Dockerfile"));
const last = stages.at(-1) ?? [];
const of = (word: string): string[] => last.filter((item) => item.word === word).map(({ rest }) => rest);

describe("the Dockerfile", () => {
  it("builds in one stage and runs in another, which holds neither source nor what is for development", () => {
    expect(stages).toHaveLength(2);
    expect(of("COPY")).toEqual(["--from=build /app /app"]);
    const [build = []] = stages;
    expect(build.some(({ rest }) => rest.includes("npm ci --omit=dev --omit=optional"))).toBe(true);
    const copied = build.flatMap(({ rest }) => [...rest.matchAll(/\/build\/([\w.-]+)/gu)].map(([, name = ""]) => name));
    for (const name of copied.filter((item) => item !== "dist"))
      expect(existsSync(join(project, name)), name).toBe(true);
    expect(copied).not.toContain("src");
  });

  it("takes the Node that the program wants, and both stages the same", () => {
    const from = stages.map(([first]) => first?.rest.replace(/ AS \w+$/u, ""));
    expect(from).toEqual(["${NODE_IMAGE}", "${NODE_IMAGE}"]);
    const { engines } = JSON.parse(read("package.json"));
    expect(/^ARG NODE_IMAGE=(.+)$/mu.exec(read("Dockerfile"))?.[1]).toMatch(
      new RegExp(`^node:${/\d+/u.exec(engines.node)?.[0]}-[a-z]+-slim$`, "u"),
    );
  });

  it("runs as nobody in particular, who may write the volume and not the program, and gets signals itself", () => {
    expect(of("USER")).toEqual(["10001:10001"]);
    expect(of("VOLUME")).toEqual(["/var/lib/crm-sync"]);
    expect(of("ENTRYPOINT")).toEqual(['["/app/bin/crm-sync"]']);
    expect(of("CMD")).toEqual(['["serve"]']);
    expect(of("STOPSIGNAL")).toEqual(["SIGTERM"]);
    const order = last.map(({ word }) => word);
    expect(order.indexOf("USER")).toBeGreaterThan(order.lastIndexOf("COPY"));
    expect(read("Dockerfile")).not.toMatch(/--chown|ADD |latest|secret|password/iu);
  });

  it("asks the program itself whether it is well", { tags: "long" }, async () => {
    const [, command = "[]"] = / CMD (.+)$/u.exec(of("HEALTHCHECK")[0] ?? "") ?? [];
    const [program, ...words]: string[] = JSON.parse(command);
    expect(program).toBe("node");
    const w = await world({ isOnMachineTime: true });
    w.extra = "serve: { port: 0 }\njobs:\n  everything: { kind: sync, streams: [customers, orders, staff] }\n";
    w.write();
    const serving = w.start("serve");
    await serving.says(/health at \S+\/healthz/u);
    const [, url = ""] = /health at (\S+\/healthz)/u.exec(serving.stderr()) ?? [];
    const asking = words.map((word) => word.replace("http://127.0.0.1:8787/healthz", url));
    expect(asking).not.toEqual(words);
    const ask = (): Promise<number> =>
      promisify(execFile)(process.execPath, asking).then(
        () => 0,
        (error: { code: number }) => error.code,
      );
    expect(await ask()).toBe(0);
    serving.child.kill("SIGTERM");
    await serving.ended;
    expect(await ask()).toBe(1);
  });

  it("is given the files that the bundle is made of, and no secret and no ledger that lies beside them", () => {
    const lines = read(".dockerignore").split("\n");
    const taken = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    expect(lines).toContain("*");
    for (const name of taken) expect(existsSync(join(project, name)), name).toBe(true);
    for (const name of ["src", "jobs", "migrations", "scripts", "bin", "config"]) expect(taken).toContain(name);
    for (const name of ["node_modules", "dist", "test", "demo", ".git"]) expect(taken).not.toContain(name);
    for (const pattern of ["**/.env", "**/*.db", "**/*.pem"]) expect(lines).toContain(pattern);
  });
});

const closedOff = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };

describe("the compose file", () => {
  const { services, volumes }: Parsed = parse(read("deploy/compose.yaml"));

  it("runs the sandbox and the program beside it, closed off, each with a volume of its own", () => {
    expect(Object.keys(services)).toEqual(["sandbox", "crm-sync"]);
    for (const [name, service] of Object.entries<Parsed>(services)) {
      expect(service, name).toMatchObject(closedOff);
      const [volume] = service.volumes[0].split(":");
      expect(Object.keys(volumes)).toContain(volume);
    }
    expect(services["crm-sync"]).toMatchObject({
      command: ["--sandbox=http://127.0.0.1:8899", "serve"],
      network_mode: "service:sandbox",
      depends_on: { sandbox: { condition: "service_healthy" } },
    });
    expect(services.sandbox.command).toEqual(expect.arrayContaining(["sandbox", "--port", "8899"]));
    // To this machine alone.
    expect(services.sandbox.ports).toEqual(["127.0.0.1:8787:8787"]);
  });

  it("names files that are there", () => {
    for (const volume of services["crm-sync"].volumes.slice(1)) {
      const [from, , mode] = volume.split(":");
      expect(existsSync(join(project, "deploy", from)), from).toBe(true);
      expect(mode).toBe("ro");
    }
  });
});

describe("the manifest for Kubernetes", () => {
  const documents = parseAllDocuments(read("deploy/kubernetes.yaml"));
  const all: Parsed[] = documents.map((document) => document.toJS());
  const kind = (name: string): Parsed => all.find((document) => document.kind === name);
  const deployment = kind("Deployment").spec;
  const pod = deployment.template.spec;
  const [container] = pod.containers;

  it("is YAML without a mistake, and says of each thing what it is", () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    for (const document of all)
      expect(document).toMatchObject({ apiVersion: expect.any(String), metadata: { name: "crm-sync" } });
    expect(all.map((document) => document.kind)).toEqual([
      "ConfigMap",
      "Secret",
      "PersistentVolumeClaim",
      "Deployment",
    ]);
  });

  it("never runs two at once, and gives the one time to end its calls", () => {
    expect(deployment).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    expect(kind("PersistentVolumeClaim").spec.accessModes).toEqual(["ReadWriteOncePod"]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(95);
    expect(deployment.selector.matchLabels).toEqual(deployment.template.metadata.labels);
  });

  it("starts it again where it hangs, and not where a service is down", () => {
    expect(container.livenessProbe.httpGet).toEqual({ path: "/livez", port: "health" });
    expect(container.startupProbe.httpGet).toEqual({ path: "/livez", port: "health" });
    const httpHeaders = [{ name: "Host", value: "localhost" }];
    expect(container.readinessProbe.httpGet).toEqual({ path: "/healthz", port: "health", httpHeaders });
    expect(container.ports).toEqual([{ name: "health", containerPort: 8787 }]);
  });

  it("gives it no right, a root file system that is read-only, and secrets as files", () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 10_001,
        fsGroup: 10_001,
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const places = new Map<string, Parsed>(pod.volumes.map((volume: Parsed) => [volume.name, volume]));
    for (const mount of container.volumeMounts) expect(places.has(mount.name), mount.name).toBe(true);
    expect(places.get("secrets")).toMatchObject({ secret: { secretName: "crm-sync", defaultMode: 0o440 } });
    expect(places.get("state")).toMatchObject({ persistentVolumeClaim: { claimName: "crm-sync" } });
    expect(JSON.stringify(container.env)).not.toMatch(/secret|password|token/iu);
  });
});
