import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import { readSecret } from "../../src/http/secrets.ts";
import { tokenSourceSchema } from "../../src/http/http-settings.ts";
import { readTokenSource } from "../../src/http/token-sources.ts";
import { createTokenProvider } from "../../src/http/tokens.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { customerMapping, openSource, readAll } from "../source/support.ts";
import { createLeapClock, startService } from "./scripted-service.ts";

const known = new KnownSecrets();

function fileWith(content: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "secret"), content);
  return join(folder, "secret");
}

const read = (reference: string, environment: Record<string, string> = {}): string =>
  readSecret(reference, { environment, directory: "/" });

describe("one rule for every secret", () => {
  test("a file is text as it stands there, without one line end at its end", () => {
    for (const [content, secret] of [
      ["0012", "0012"],
      [" 0012 \r\n", " 0012 "],
      ["two\nlines\n\n", "two\nlines\n"],
      ["\uFEFFmarked\n", "\uFEFFmarked"],
    ] as const)
      expect(read(`file:${fileWith(content)}`)).toBe(secret);
    expect(read("env:N", { N: " 0012\n" })).toBe(" 0012\n");
  });

  test("what is not there, empty, too long or no text is named by its place alone", () => {
    const refusal = (reference: string): string => {
      try {
        return read(reference, { EMPTY: "" });
      } catch (thrown) {
        return String(thrown);
      }
    };
    expect(refusal("env:NONE")).toContain("the environment variable NONE is not set");
    expect(refusal("env:EMPTY")).toContain("EMPTY is empty");
    expect(refusal("file:/nowhere/key")).toContain("/nowhere/key cannot be read (ENOENT)");
    expect(refusal(`file:${fileWith("\n")}`)).toContain("is empty");
    expect(refusal(`file:${fileWith("canary".repeat(11_000))}`)).toMatch(/cannot be read \(66000 bytes are too many/u);
    expect(refusal(`file:${fileWith(Buffer.from([0x63, 0xff]))}`)).toContain("cannot be read");
    expect(refusal("canary-of-a-secret")).not.toContain("canary");
    expect(() => readSecret("file:relative", { environment: {} })).toThrow("no reference");
  });

  test.each(["s3cret\n", "s3cret\r\n\n", "\uFEFFs3cret\n"])(
    "services and sources send the same, whatever an editor put around it",
    async (content) => {
      const file = fileWith(content);
      const clock = createLeapClock();
      const service = await startService(({ path }) =>
        path === "/token" ? { json: { access_token: "t", token_type: "bearer", expires_in: 60 } } : { json: [] },
      );
      const oauth = { tokenUrl: `${service.url}/token`, clientId: "key", clientSecret: `file:${file}` };
      const provide = (settings: unknown) =>
        createTokenProvider(readTokenSource(tokenSourceSchema.parse(settings), { environment: {}, known }), {
          clock,
          known,
        }).token();
      const source = (auth: object) =>
        readAll(
          openSource(
            { kind: "http", auth, streams: { customers: { url: `${service.url}/list`, mapping: customerMapping } } },
            ".",
            {
              secrets: read,
            },
          ),
          "customers",
        );
      expect(await provide(`file:${file}`)).toBe("s3cret");
      await provide({ oauth2: { ...oauth, grant: "client_credentials", clientAuth: "body" } });
      await source({ kind: "oauth2", ...oauth, clientAuth: "body" });
      await source({ kind: "bearer", token: `file:${file}` });
      const shown = service.seen.map(({ path, body, headers }) =>
        path === "/token" ? new URLSearchParams(body).get("client_secret") : headers.authorization,
      );
      expect(shown).toEqual(["s3cret", "s3cret", "Bearer t", "Bearer s3cret"]);
    },
  );

  test("is refused by the settings of services and sources alike where it is written out", () => {
    const bad = [
      tokenSourceSchema.safeParse("canary"),
      sourceSettingsSchema.safeParse({
        kind: "http",
        auth: { kind: "bearer", token: "canary" },
        streams: { customers: { url: "https://crm.example/c", mapping: customerMapping } },
      }),
    ];
    expect(bad.map(({ success }) => success)).toEqual([false, false]);
  });
});
