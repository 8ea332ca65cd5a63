/** @module-tag long */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { world } from "../support/cli.ts";
import { environmentAt, wordsAt } from "../support/program.ts";
import { folder } from "../support/world/start.ts";

const project = join(import.meta.dirname, "../..");
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(project, "package.json"), "utf8")));

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), dev: z.boolean().optional(), optional: z.boolean().optional() }),
  ),
});
const billSchema = z.object({
  bomFormat: z.literal("CycloneDX"),
  metadata: z.object({ component: z.object({ type: z.literal("application"), purl: z.string() }) }),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      licenses: z.array(z.object({ license: z.object({ id: z.string().min(1) }) })).min(1),
      hashes: z.array(z.object({ alg: z.literal("SHA-512"), content: z.string().regex(/^[0-9a-f]{128}$/u) })).min(1),
    }),
  ),
});

/** Name and version of each package that a lock file has for the program itself. */
function packagesOf(shrinkwrap: string): string[] {
  const { packages } = lockSchema.parse(JSON.parse(shrinkwrap));
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== "" && dev !== true)
    .map(([path, item]) => `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${item.version}`);
}

const unique = (names: readonly string[]): string[] => [...new Set(names)].toSorted();

/** Name and version of each package in the bill of materials. */
function billed(): string[] {
  const text = execFileSync("npm", ["run", "--silent", "sbom"], { cwd: project, encoding: "utf8" });
  const bill = billSchema.parse(JSON.parse(text));
  expect(bill.metadata.component.purl).toBe(`pkg:npm/crm-sync@${version}`);
  return unique(bill.components.map((item) => `${item.name}@${item.version}`));
}

it("an image is made from one that is named by its digest alone", () => {
  const place = folder();
  writeFileSync(join(place, "docker"), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
  const image = (...words: string[]) =>
    spawnSync(join(project, "scripts/image.sh"), words, {
      encoding: "utf8",
      env: { ...process.env, PATH: `${place}:${process.env["PATH"]}` },
    });
  const digest = `node:26-trixie-slim@sha256:${"a".repeat(64)}`;
  expect(image(digest, "crm-sync:1").stdout).toContain(`build --build-arg NODE_IMAGE=${digest} --tag crm-sync:1`);
  for (const name of ["node:26-trixie-slim", "node@sha256:abc", `${digest}0`])
    expect(image(name, "crm-sync:1")).toMatchObject({ status: 64, stdout: "" });
});

describe("what is handed out", () => {
  const verify = ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "../key.pub"];
  const signature = ["-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"];

  it("is signed with the key of whoever hands it out: a file that was changed, and sums that were, are found", () => {
    const place = folder();
    const inPlace = { cwd: place, encoding: "utf8" } as const;
    execFileSync("openssl", ["genpkey", "-algorithm", "ed25519", "-out", "key.pem"], inPlace);
    execFileSync("openssl", ["pkey", "-in", "key.pem", "-pubout", "-out", "key.pub"], inPlace);
    mkdirSync(join(place, "out"));
    const files = ["out/crm-sync 1.tgz", "out/sbom.json"];
    for (const name of files) writeFileSync(join(place, name), name);
    execFileSync(join(project, "scripts/sign.sh"), ["key.pem", ...files], inPlace);
    const out = { cwd: join(place, "out"), encoding: "utf8" } as const;
    expect(readdirSync(out.cwd)).toEqual(["SHA256SUMS", "SHA256SUMS.sig", "crm-sync 1.tgz", "sbom.json"]);
    const sums = (): number | null => spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], out).status;
    const signed = (): number | null => spawnSync("openssl", [...verify, ...signature], out).status;
    expect([sums(), signed()]).toEqual([0, 0]);
    writeFileSync(join(out.cwd, "sbom.json"), "another");
    expect([sums(), signed()]).toEqual([1, 0]);
    const hash = execFileSync("sha256sum", ["crm-sync 1.tgz", "sbom.json"], out);
    writeFileSync(join(out.cwd, "SHA256SUMS"), hash);
    expect([sums(), signed()]).toEqual([0, 1]);
  });

  it("is signed by the commands that the documents name", () => {
    const text = readFileSync(join(project, "docs/how-to/install.md"), "utf8");
    expect(text).toContain(`openssl ${verify.join(" ").replace("../key.pub", "crm-sync.pub")} ${signature.join(" ")}`);
    expect(text).toContain("sha256sum --check --strict SHA256SUMS");
    expect(text).toContain("scripts/sign.sh");
  });
});

/** Name and version of each package in a folder of packages, and in those of theirs. */
function installedIn(modules: string): string[] {
  const folders = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((item) => join(name, item)) : [name],
  );
  return folders.flatMap((name) => {
    const path = join(modules, name);
    if (name.startsWith(".") || !existsSync(join(path, "package.json"))) return [];
    const own = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(path, "package.json"), "utf8")));
    const inner = join(path, "node_modules");
    return [`${name}@${own.version}`, ...(existsSync(inner) ? installedIn(inner) : [])];
  });
}

/** What npm says where a package can neither be fetched nor is kept on this machine. */
const outOfReach = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/u;

it("the package is installed with just what the bill of materials lists, and the command works there", async ({
  annotate,
}) => {
  const place = folder();
  const checkout = join(place, "checkout");
  mkdirSync(checkout);
  const { files } = z
    .object({ files: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(join(project, "package.json"), "utf8")));
  for (const name of [
    "bin",
    "src",
    "jobs",
    "migrations",
    "scripts",
    "config",
    "docs",
    "deploy",
    "package.json",
    "package-lock.json",
  ])
    cpSync(join(project, name), join(checkout, name), { recursive: true });
  symlinkSync(join(project, "node_modules"), join(checkout, "node_modules"));
  const words = ["run", "--silent", "package", "--", "--silent"];
  const packed = execFileSync("npm", words, { cwd: checkout, encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  expect(readdirSync(checkout)).not.toContain("npm-shrinkwrap.json");
  const shrinkwrap = execFileSync("tar", ["-xzOf", join(checkout, packed), "package/npm-shrinkwrap.json"], {
    encoding: "utf8",
  });
  const bill = billed();
  expect(bill.length).toBeGreaterThan(40);
  expect(bill).toEqual(unique(packagesOf(shrinkwrap)));

  const home = join(place, "opt");
  mkdirSync(home);
  execFileSync("tar", ["-xzf", join(checkout, packed), "--strip-components=1", "--directory", home]);
  const install = ["ci", "--prefix", home, "--omit=dev", "--ignore-scripts", "--prefer-offline"];
  const installed = spawnSync("npm", install, { cwd: place, encoding: "utf8" });
  if (installed.status !== 0 && outOfReach.test(installed.stderr)) {
    await annotate("NOT tried here: the packages that the program needs cannot be had");
    return;
  }
  expect(installed.status, installed.stderr).toBe(0);
  for (const name of ["deploy/systemd/crm-sync.service", "deploy/kubernetes.yaml", "docs/how-to/install.md"])
    expect(existsSync(join(home, name)), name).toBe(true);
  expect(files).toContain("deploy");
  const there = unique(installedIn(join(home, "node_modules")));
  expect(there.filter((item) => !bill.includes(item))).toEqual([]);
  // What is missing is for other machines.
  const { packages } = lockSchema.parse(JSON.parse(shrinkwrap));
  const optional = Object.entries(packages).flatMap(([path, item]) =>
    item.optional === true ? [`${path.slice("node_modules/".length)}@${item.version}`] : [],
  );
  expect(bill.filter((item) => !there.includes(item) && !optional.includes(item))).toEqual([]);
  expect(existsSync(join(home, "src"))).toBe(false);

  const w = await world();
  const told = { cwd: place, encoding: "utf8", env: environmentAt(w.place) } as const;
  const crmSync = (...line: string[]) => spawnSync(join(home, "bin/crm-sync"), line, told);
  expect(crmSync("--version")).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
  // The sandbox of the world answers in this process, which waits for the command.
  const alone = [`--config=${w.path("crm-sync.yaml")}`, "--sandbox"];
  expect(wordsAt(w.place, []).length).toBeGreaterThan(0);
  const checked = crmSync(...alone, "check");
  expect(checked.stdout + checked.stderr).toContain("good  order service: answers");
  expect(checked.status).toBe(0);
  const ran = crmSync(...alone, "run", "everything");
  expect(ran.status, ran.stderr).toBe(0);
});
