import { describe, expect, it } from "vitest";
import { readTokenSource, outputOf } from "../../src/http/token-sources.ts";
import { SecretFailure } from "../../src/http/secrets.ts";
import { KnownSecrets } from "../../src/base/known-secrets.ts";

const node = process.execPath;
const printed = (code: string): Promise<string> => outputOf([node, "-e", code], 60_000, {});

describe("a token that a program prints", () => {
  it("is asked for without a shell: what a shell would run is an argument", async () => {
    expect(await outputOf([node, "-p", "process.argv[1]", "$(id);`id`"], 60_000, {})).toBe("$(id);`id`\n");
  });

  it("comes from a program that gets the variables that are named and no secret of ours", async () => {
    const names = `console.log(["PATH", "HOME", "VAULT_ADDR", "SEAL_KEY"].filter((name) => name in process.env).join("."))`;
    const environment = { PATH: "/bin", HOME: "/", VAULT_ADDR: "https://vault.example", SEAL_KEY: "hunter-2026-x" };
    const source = { command: [node, "-e", names], environment: ["VAULT_ADDR"], timeoutMs: 60_000 };
    const reading = await readTokenSource(source, { environment, known: new KnownSecrets() }).read();
    expect(reading.token).toBe("PATH.HOME.VAULT_ADDR");
  });

  it.each([
    ["process.stderr.write('hunter2'); process.exit(3)", "ended with exit code 3"],
    ["process.kill(process.pid, 'SIGTERM')", "was ended by SIGTERM"],
    ["process.stdout.write('hunter2'.repeat(20000))", "printed more than 65536 bytes"],
  ])("is named by program and state where there is none: %s", async (code, state) => {
    const failure = await printed(code).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(SecretFailure);
    expect(String(failure)).toContain(`the command ${node} ${state}`);
    expect(String(failure)).not.toContain("hunter2");
  });

  it("is given up when it takes too long or is not there", { tags: "long" }, async () => {
    const state = async (made: Promise<string>): Promise<string> => made.catch((thrown: unknown) => String(thrown));
    expect(await state(outputOf([node, "-e", "setInterval(() => {}, 1000)"], 200, {}))).toContain(
      "did not end within 200 ms",
    );
    expect(await state(outputOf(["/nowhere/pass"], 200, {}))).toContain("cannot be started (ENOENT)");
    expect(await state(outputOf(["a\0b"], 200, {}))).toContain("cannot be started");
  });
});
