import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { PassThrough } from "node:stream";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import { isPassword } from "../../src/app/account-password.ts";
import { askedTwice } from "../../src/cli/password-question.ts";
import { bundled } from "../support/bundle.ts";
import { document, until, world } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { Browser } from "../support/guarded.ts";

describe("crm-sync login", () => {
  it("signs the user of the system in at the running program, with the right to decide", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true });
    const port = await freePort();
    w.extra = `serve: { port: ${port} }\n`;
    w.write();
    const serving = w.start("serve");
    await until("it serves", () => serving.stderr().includes("health at"));
    const { url } = document(await w.run("--json", "login"));
    expect(url).toMatch(new RegExp(`^http://localhost:${port}/login/link/[0-9a-f]{64}$`, "u"));
    const browser = new Browser({ port });
    expect((await browser.fill(new URL(url).pathname, {})).status).toBe(303);
    const page = await browser.get("/today");
    expect(page.status).toBe(200);
    expect(page.text).toContain(userInfo().username);
    expect(page.text).toContain("(decide)");
    // Health is open to whoever reaches it, under any name.
    expect((await request(`http://127.0.0.1:${port}/livez`, { headers: { host: "10.1.2.3:1" } })).statusCode).toBe(200);
    serving.child.kill("SIGTERM");
    await serving.ended;
  });

  it.each([
    ["the port is any", "serve: { port: 0 }\n", "serve.port is 0"],
    ["there are no pages", "serve: { pages: false }\n", "serve.pages is false"],
  ])("makes no link where %s", async (_why, extra, said) => {
    const w = await world({ isOnMachineTime: true });
    w.extra = extra;
    w.write();
    const ended = await w.run("login");
    expect([ended.exitCode, ended.stdout]).toEqual([78, ""]);
    expect(ended.stderr).toContain(said);
  });

  it("needs a ledger", async () => {
    const w = await world({ isOnMachineTime: true, isNew: true });
    expect((await w.run("login")).exitCode).toBe(65);
  });
});

describe("crm-sync check", () => {
  it("names a password that is none, a certificate that is not there, and a host that nobody could sign in at", async () => {
    const w = await world({ isOnMachineTime: true });
    writeFileSync(w.path("anna"), "Zqcanary in clear");
    w.extra = `serve:
  tls: { certificate: gone.crt, key: gone.key }
  access: { accounts: { anna: { role: decide, password: "file:anna" } } }
`;
    w.write();
    const ended = await w.run("check");
    expect(ended.exitCode).not.toBe(0);
    expect(ended.stdout).toContain("serve.access.accounts.anna.password");
    expect(ended.stdout).toContain("gone.crt, which cannot be read (ENOENT)");
    expect(ended.stdout + ended.stderr).not.toContain("Zqcanary");
    w.extra = "serve: { host: 0.0.0.0 }\n";
    w.write();
    const refused = await w.run("check");
    expect(refused.exitCode).toBe(78);
    expect(refused.stderr).toMatch(/crm-sync\.yaml:\d+:\d+/u);
  });
});

describe("crm-sync account hash", () => {
  const hash = (typed: string) =>
    spawnSync(process.execPath, [bundled("main.cjs"), "account", "hash"], { input: typed, encoding: "utf8" });

  it("takes a password from a pipe and prints the line of it, and never the password", { tags: "long" }, async () => {
    const { status, stdout, stderr } = hash("four words of anna\n");
    expect(status, stderr).toBe(0);
    expect(stdout + stderr).not.toContain("four words of");
    expect(await isPassword("four words of anna", stdout.trim())).toBe(true);
    expect(await isPassword("four words of Anna", stdout.trim())).toBe(false);
    expect([hash("short\n").status, hash("").status]).toEqual([64, 64]);
  });

  it("asks twice on a terminal, and shows nothing of what is typed", async () => {
    const typed = async (first: string, second: string): Promise<{ password: string; shown: string }> => {
      const terminal = Object.assign(new PassThrough(), { isTTY: true });
      const shown: string[] = [];
      const write = (text: string): boolean => {
        shown.push(text);
        terminal.write(`${shown.length === 1 ? first : second}\n`);
        return true;
      };
      const password = await askedTwice(terminal, {
        write: (text: string) => (text === "\n" ? shown.push(text) > 0 : write(text)),
      });
      return { password, shown: shown.join("") };
    };
    const { password, shown } = await typed("four words of anna", "four words of anna");
    expect([password, shown]).toEqual(["four words of anna", "Password: \nOnce more: \n"]);
    await expect(typed("four words of anna", "four words of sam")).rejects.toThrow("not the same");
  });
});
