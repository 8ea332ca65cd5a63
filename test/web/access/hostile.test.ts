/** @module-tag sized */
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { world } from "../../support/cli.ts";
import { ask, guarded, type Answer } from "../../support/guarded.ts";
import { reverseProxy } from "../../support/reverse-proxy.ts";
import { sizes } from "../../support/sizes.ts";

/** It signs with a key of its own. */
const stranger = reverseProxy();

const method = fc.constantFrom("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "TRACE");
const visible = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 300,
});
const hex = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((number) => number.toString(16).padStart(64, "0"));
const path = fc.oneof(
  fc.constantFrom(
    "/",
    "/see",
    "/report",
    "/decide",
    "/login",
    "/logout",
    "/login/link/x",
    "//evil.example",
    "/%",
    "/%00",
    "/..%2f",
    "/see?to=%",
    "/login?to=//evil.example&to=x",
  ),
  hex.map((token) => `/login/link/${token}`),
  fc.webPath().map((text) => `/${text}`),
);
const header = fc.tuple(
  fc.constantFrom(
    "host",
    "cookie",
    "origin",
    "sec-fetch-site",
    "x-assertion",
    "X-Assertion",
    "x_assertion",
    "x-csrf-token",
    "x-forwarded-for",
    "forwarded",
    "accept",
    "content-type",
    "content-length",
    "transfer-encoding",
    "authorization",
    "connection",
    "expect",
    "upgrade",
  ),
  fc.oneof(
    visible,
    hex.map((token) => `crm-sync=${token}; crm-sync-sign-in=${token}`),
    fc.constantFrom(
      "text/html",
      "null",
      "cross-site",
      "multipart/form-data",
      "multipart/form-data; boundary=",
      "application/x-www-form-urlencoded",
      "application/json",
      "chunked",
      "-1",
      "99999999999",
      "crm-sync=%E0%A4%A",
      "crm-sync=a; crm-sync=b",
      "localhost",
      "anna.lee",
      stranger.token({ email: "anna.lee", groups: ["operators"] }),
      "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.",
      "Basic x",
      "Bearer x",
    ),
  ),
);
const body = fc.option(
  fc.oneof(
    visible,
    fc.constantFrom("csrf=%", "csrf=a&csrf=b", "name=x&password=y", "a".repeat(70_000), "{", "--x\r\n"),
  ),
  { nil: undefined },
);

describe("hostile requests", () => {
  it("are answered, and by no failure, whatever they say of themselves", { tags: "long" }, async () => {
    const w = await world();
    await w.run("status");
    const proxy = reverseProxy();
    writeFileSync(w.path("proxy.pem"), proxy.publicPem);
    const log: string[] = [];
    const pages = await guarded(
      w,
      {
        publicUrl: "https://crm.example.com",
        access: { proxy: { ...proxy.settings, roles: { operators: "decide" } } },
      },
      { log },
    );
    const statuses = new Map<number, number>();
    const request = fc.tuple(
      method,
      path,
      fc.array(header, { maxLength: 5 }),
      body,
      fc.constantFrom("127.0.0.1", "127.0.0.2"),
    );
    await fc.assert(
      fc.asyncProperty(request, async ([method, path, headers, body, from]) => {
        const asked = ask(pages, path, { method, headers: headers.flat(), body, from }).catch(() => undefined);
        // A request whose body never comes waits for it, as it says, while others are answered.
        const maySayMore = headers.some(([name]) =>
          /^(?:content-length|transfer-encoding|expect|upgrade)$/u.test(name),
        );
        const other = maySayMore ? [ask(pages, "/login").then(() => undefined)] : [];
        const answer: Answer | undefined = await Promise.race([asked, ...other]);
        const status = answer?.status ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(status, `${method} ${path} ${JSON.stringify(headers)} ${answer?.text ?? ""}`).not.toBe(500);
        expect(answer?.headers.location ?? "/").toMatch(/^\/(?![/\\])/u);
      }),
      { numRuns: sizes.requests },
    );
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 401, 403, 405, 421]));
    // Nothing changed, but for who could prove that they may.
    expect(pages.done).toEqual([]);
    expect(log.join("")).not.toContain("web.failed");
  });
});
