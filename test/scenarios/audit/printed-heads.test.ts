import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { exportOf, lived, verifierAlone } from "../../support/audit-record.ts";
import { auditEntries } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";

/** What a printed statement says of the head. */
interface Printed {
  at: unknown;
  note: string | undefined;
}

const headSchema = z.strictObject({
  sequence: z.int(),
  at: z.string(),
  hash: z.string(),
  size: z.int(),
  root: z.string(),
  checkpoint: z.string().optional(),
});
const statementSchema = z.looseObject({ header: z.looseObject({ auditHead: headSchema }) });
/** How somebody takes the head out of each format, by its name. */
const printed: Record<string, (path: string) => Printed | Promise<Printed>> = {
  json(path) {
    const { at, checkpoint: note } = statementSchema.parse(JSON.parse(readFileSync(path, "utf8"))).header.auditHead;
    return { at, note };
  },
  html(path) {
    const page = readFileSync(path, "utf8");
    const at = /<dt>Audit head: time<\/dt><dd>([^<]+)/u.exec(page)?.[1];
    return { at: instantOf(at), note: /<pre>\n(crm-sync[^<]*)<\/pre>/u.exec(page)?.[1] };
  },
};

function instantOf(text: unknown): string {
  return new Date(String(text)).toISOString();
}

async function signing(): Promise<{ w: World; key: string; verifier: string }> {
  const w = await lived();
  w.extra = "audit: { signKey: env:AUDIT_KEY }\n";
  w.write();
  const key = newKey();
  w.environment["AUDIT_KEY"] = key;
  const head = await w.run("audit", "head");
  return { w, key, verifier: /^verifier (\S+)$/mu.exec(head.stdout)?.[1] ?? "" };
}

function newKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
}

async function report(w: World, format: string): Promise<string> {
  const name = `orders.${format}`;
  const asked = ["--period", "2026-10", "--format", format, "--out", w.path(name)];
  const made = await w.run("report", "orders", ...asked);
  expect(made.exitCode, made.stderr).toBe(0);
  return w.path(name);
}

describe("the head that is printed on a statement", () => {
  it.each(Object.keys(printed))(
    "says when its entry was written, and is signed: %s",
    { tags: "long" },
    async (format) => {
      const { w, verifier } = await signing();
      const path = await report(w, format);
      const { at, note = "" } = (await printed[format]?.(path)) ?? {};
      const last = (await auditEntries(w)).at(-1);
      expect(instantOf(at).slice(0, 19)).toBe(last?.at.slice(0, 19));
      expect(note.split("\n").slice(3, 6)).toEqual([
        `entry ${last?.sequence}`,
        `hash ${last?.hash}`,
        `time ${last?.at}`,
      ]);
      const verify = verifierAlone();
      const record = await exportOf(w);
      writeFileSync(w.path("head.txt"), note);
      expect(verify(record, "--key", verifier, "--heads", w.path("head.txt"))).toMatchObject({
        code: 0,
        said: expect.stringContaining("heads: 1 that were kept outside fit"),
      });
      expect((await w.run("audit", "verify", "--key", verifier, "--heads", w.path("head.txt"))).exitCode).toBe(0);
      for (const changed of [note.replace(/^time 2/mu, "time 1"), note.replace(/^— .*$/mu, "")]) {
        expect(changed).not.toBe(note);
        writeFileSync(w.path("head.txt"), changed);
        const found = verify(record, "--key", verifier, "--heads", w.path("head.txt"));
        expect(found).toMatchObject({ code: 1, said: expect.stringMatching(/^BAD head-signature/u) });
      }
      // The same ledger and key give the same bytes, whenever they are asked.
      const before = readFileSync(path);
      expect(readFileSync(await report(w, format))).toEqual(before);
    },
  );

  it("is checked from the page itself, as it was saved", { tags: "long" }, async () => {
    const { w, verifier } = await signing();
    const page = await report(w, "html");
    expect(verifierAlone()(await exportOf(w), "--key", verifier, "--heads", page)).toMatchObject({ code: 0 });
    expect((await w.run("audit", "verify", "--key", verifier, "--heads", page)).exitCode).toBe(0);
  });

  it.runIf(spawnSync("openssl", ["version"]).status === 0)("is checked by openssl, as the page says", async () => {
    const { w, verifier } = await signing();
    const { note = "" } = (await printed["json"]?.(await report(w, "json"))) ?? {};
    writeFileSync(w.path("note.txt"), note);
    const page = readFileSync(new URL("../../../docs/reference/audit/format.md", import.meta.url), "utf8");
    const recipe =
      /(?<=\n\n)(?: {4}[^\n]*\n)+(?=\nIt answers `Signature Verified Successfully`)/u.exec(page)?.[0] ?? "";
    const check = (): string => {
      const { stdout, stderr } = spawnSync("sh", ["-c", recipe.replaceAll("VERIFIER", verifier)], {
        cwd: w.folder,
        encoding: "utf8",
      });
      return stdout + stderr;
    };
    expect(check()).toBe("Signature Verified Successfully\n");
    writeFileSync(w.path("note.txt"), note.replace(/^time 2/mu, "time 1"));
    expect(check()).toContain("Signature Verification Failure");
  });

  it(
    "bears no signature where there is no key for whoever asks, and says the same else",
    { tags: "long" },
    async () => {
      const { w } = await signing();
      const [signed, key] = [readFileSync(await report(w, "json"), "utf8"), w.environment["AUDIT_KEY"]];
      delete w.environment["AUDIT_KEY"];
      const unsigned = readFileSync(await report(w, "json"), "utf8");
      expect(unsigned).not.toContain("checkpoint");
      expect(signed.replace(/"checkpoint":"[^"]*",/u, "")).toBe(unsigned);
      for (const [format, read] of Object.entries(printed))
        expect((await read(await report(w, format))).note, format).toBeUndefined();
      w.environment["AUDIT_KEY"] = "no key at all";
      const refused = await w.run("report", "orders", "--period", "2026-10", "--format", "json");
      expect([refused.exitCode, refused.stdout]).toEqual([78, ""]);
      expect(refused.stderr).toContain("does not name an Ed25519 private key");
      w.environment["AUDIT_KEY"] = key ?? "";
      w.extra = "";
      w.write();
      expect(readFileSync(await report(w, "json"), "utf8")).toBe(unsigned);
    },
  );
});
