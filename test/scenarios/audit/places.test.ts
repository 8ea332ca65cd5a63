import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { exportOf, verifierAlone } from "../../support/audit-record.ts";
import { startServer } from "../../support/http-server.ts";
import { world, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

const token = "heads-token-canary";

interface Receiver {
  url: string;
  got: { body: string; authorization: string | undefined }[];
  answer: { code: number };
}

/** Somebody elsewhere who gets heads, as long as they are up. */
async function receiver(): Promise<Receiver> {
  const got: Receiver["got"] = [];
  const answer = { code: 204 };
  const url = await startServer(({ body, headers }, response) => {
    if (answer.code < 300) got.push({ body, authorization: headers.authorization });
    response.writeHead(answer.code).end();
  });
  return { url: `${url}/heads?key=${token}`, got, answer };
}

function lines(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

async function placed(url: string): Promise<World> {
  const w = await world({ records: company(2, 1) });
  w.extra =
    `audit: { signKey: env:AUDIT_KEY, heads: [{ kind: file, path: elsewhere/crm.heads }, ` +
    `{ kind: webhook, url: "${url}", token: env:HEADS_TOKEN }] }\n`;
  w.environment["AUDIT_KEY"] = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  w.environment["HEADS_TOKEN"] = token;
  w.write();
  return w;
}

it(
  "each run writes the head of the record to every place, also where one of them is down",
  { tags: "long" },
  async () => {
    const { url, got, answer } = await receiver();
    const w = await placed(url);
    mkdirSync(w.path("elsewhere"));
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [first] = lines(w.path("elsewhere/crm.heads"));
    expect(got.map(({ body, authorization }) => [body.trim(), authorization])).toEqual([[first, `Bearer ${token}`]]);
    expect(statSync(w.path("elsewhere/crm.heads")).mode & 0o777).toBe(0o600);

    answer.code = 503;
    const failing = await w.run("run", "everything");
    expect(failing.exitCode).toBe(0);
    expect(failing.stderr).toContain('"key":"head-not-kept:');
    expect(failing.stderr).toContain("the webhook answered HTTP 503");
    expect(failing.stdout + failing.stderr).not.toContain(token);
    expect(lines(w.path("elsewhere/crm.heads"))).toHaveLength(2);
    const status = await w.run("status", "--all");
    expect(status.stdout).toMatch(/^heads +elsewhere\/crm.heads has that of entry \d+/mu);
    expect(status.stdout).toMatch(/does not get the head of the audit log \(.*HTTP 503/u);
    expect(status.stdout).not.toContain(token);

    answer.code = 204;
    const again = await w.run("run", "verify");
    expect(again.stderr).toMatch(/"event":"alert\.ended"[^\n]+"key":"head-not-kept:/u);
    expect(lines(w.path("elsewhere/crm.heads"))).toHaveLength(3);
    expect(got).toHaveLength(2);
    expect((await w.run("status")).stdout).not.toContain("does not get the head");

    // A place that is configured no more is no trouble either.
    answer.code = 503;
    await w.run("run", "everything");
    w.extra = "audit: { heads: [{ kind: file, path: elsewhere/crm.heads }] }\n";
    w.write();
    await w.run("run", "everything");
    expect((await w.run("status")).stdout).not.toContain("does not get the head");
  },
);

it("a folder that is not there, and a key that cannot sign, stop nothing and are told", async () => {
  const { url, got } = await receiver();
  const w = await placed(url);
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls["E5"]]).toEqual([0, 2]);
  expect(run.stderr).toMatch(/head-not-kept:elsewhere\/crm.heads.*ENOENT/u);
  expect([got.length, existsSync(w.path("elsewhere"))]).toEqual([1, false]);
  w.environment["AUDIT_KEY"] = "no key";
  const unsigned = await w.run("run", "everything");
  expect([unsigned.exitCode, got.length]).toEqual([0, 1]);
  expect(unsigned.stderr).toContain("does not name an Ed25519 private key");
  if (process.getuid?.() === 0) return;
  mkdirSync(w.path("elsewhere"));
  chmodSync(w.path("elsewhere"), 0o500);
  expect((await w.run("run", "everything")).stderr).toContain("EACCES");
});

it("a line that a crash left half-written takes no other one with it", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 1) });
  w.extra = "audit: { heads: [{ kind: file, path: crm.heads }] }\n";
  w.write();
  const heads = w.path("crm.heads");
  await w.run("run", "everything");
  const [first = ""] = lines(heads);
  writeFileSync(heads, readFileSync(heads, "utf8").slice(0, -20));
  await w.run("run", "everything");
  const [torn, whole = "", ...more] = lines(heads);
  expect([torn, JSON.parse(whole).sequence > JSON.parse(first).sequence, more]).toEqual([
    first.slice(0, -20),
    true,
    [],
  ]);
  expect((await w.run("audit", "verify", "--heads", heads)).exitCode).toBe(0);
});

it("of two places with one address, each is told of by itself", { tags: "long" }, async () => {
  const w = await world({ records: company(1, 1) });
  const target = await startServer(({ query }, response) => {
    response.writeHead(query["key"] === "down" ? 503 : 204).end();
  });
  w.extra = `audit: { heads: [{ kind: webhook, url: "${target}/?key=down" }, { kind: webhook, url: "${target}/?key=up" }] }\n`;
  w.write();
  const run = await w.run("run", "everything");
  expect(run.stderr).toContain(`"key":"head-not-kept:${target}/"`);
  const { stdout } = await w.run("status", "--all");
  expect(stdout).toContain(`${target}/ does not get the head`);
  expect(stdout).toContain(`${target}/ (2) has that of entry`);
});

it(
  "a record is checked with what a place got, and a line that somebody changed there counts for nothing",
  { tags: "long" },
  async () => {
    const { url } = await receiver();
    const w = await placed(url);
    mkdirSync(w.path("elsewhere"));
    for (const _ of [1, 2]) await w.run("run", "everything");
    const heads = w.path("elsewhere/crm.heads");
    const verifier = /^verifier (\S+)$/mu.exec((await w.run("audit", "head")).stdout)?.[1] ?? "";
    const verified = async (): Promise<unknown[]> => {
      const ended = await w.run("audit", "verify", "--key", verifier, "--heads", heads);
      return [ended.exitCode, /BAD at entry \d+ \((?<code>[\w-]+)\)/u.exec(ended.stdout)?.groups?.["code"]];
    };
    expect(await verified()).toEqual([0, undefined]);
    const whole = readFileSync(heads, "utf8");
    for (const [what, text] of [
      ["another hash", whole.replace(/(?<="hash":")./u, (digit) => (digit === "a" ? "b" : "a"))],
      ["a signature that is gone", whole.replace(/,"checkpoint":"(?:[^"\\]|\\.)*"/u, "")],
      [
        "a signature of the other line",
        whole.replace(
          /"checkpoint":"(?:[^"\\]|\\.)*"/u,
          /"checkpoint":"[^]*"(?=\}\n$)/u.exec(`${whole.split("\n").at(-1)}\n`)?.[0] ?? "",
        ),
      ],
    ] as const) {
      expect(text, what).not.toBe(whole);
      writeFileSync(heads, text);
      expect(await verified(), what).toEqual([65, "head-signature"]);
    }
    writeFileSync(heads, whole);
    expect(await verified()).toEqual([0, undefined]);
  },
);

it("heads of another ledger are named as that, and not as a record that was rewritten", { tags: "long" }, async () => {
  const { url } = await receiver();
  const [one, other] = [await placed(url), await placed(url)];
  for (const w of [one, other]) {
    mkdirSync(w.path("elsewhere"));
    expect((await w.run("run", "everything")).exitCode).toBe(0);
  }
  const own = await one.run("audit", "verify", "--heads", one.path("elsewhere/crm.heads"));
  expect(own.exitCode, own.stdout + own.stderr).toBe(0);
  const signed = one.path("signed.txt");
  writeFileSync(signed, (await other.run("audit", "head")).stdout);
  for (const path of [other.path("elsewhere/crm.heads"), signed]) {
    const found = await one.run("audit", "verify", "--heads", path);
    expect(found.exitCode, "no mistake of who asks alone").toBe(65);
    expect(found.stderr).toContain(`${path} belongs to another ledger: its head of entry`);
    expect(found.stderr).toContain("somebody replaced that ledger");
    expect(found.stdout + found.stderr).not.toContain("record-rewritten");
  }
});

it(
  "a place that got heads of one key after another is checked with both, and with one of them it is not",
  { tags: "long" },
  async () => {
    const { url } = await receiver();
    const w = await placed(url);
    mkdirSync(w.path("elsewhere"));
    const verifiers: string[] = [];
    for (const _ of [1, 2]) {
      w.environment["AUDIT_KEY"] = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
      await w.run("run", "everything");
      verifiers.push(/^verifier (\S+)$/mu.exec((await w.run("audit", "head")).stdout)?.[1] ?? "");
    }
    const heads = w.path("elsewhere/crm.heads");
    const path = await exportOf(w);
    for (const [keys, codes] of [
      [verifiers, [0, 0]],
      [verifiers.slice(0, 1), [65, 1]],
      [verifiers.slice(1), [65, 1]],
    ] as const) {
      const words = [...keys.flatMap((key) => ["--key", key]), "--heads", heads];
      const own = await w.run("audit", "verify", ...words);
      expect([own.exitCode, verifierAlone()(path, ...words).code], own.stdout).toEqual(codes);
    }
    expect((await w.run("audit", "verify", "--heads", heads)).stdout).toMatch(
      /head-signature.*name each key with --key/u,
    );
  },
);
