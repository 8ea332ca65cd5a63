import { describe, expect, it } from "vitest";
import { commandSecret, outputOf } from "../../src/http/token-sources.ts";
import { commandOf, readSecret, SecretFailure } from "../../src/http/secrets.ts";

const node = process.execPath;
const printing = (code: string): string => `command:${JSON.stringify([node, "-e", code])}`;

describe("a secret that a program prints", () => {
  it("is what it prints, less one line end", async () => {
    expect(await commandSecret(printing("console.log('0012')"), {})).toBe("0012");
    expect(await commandSecret(printing("process.stdout.write('  s3cret ')"), {})).toBe("  s3cret ");
    expect(commandSecret("env:NAME", {})).toBeUndefined();
  });

  it("is asked for without a shell: what a shell would run is an argument", async () => {
    expect(commandOf("command:pass show  crm;reboot $(id)")).toEqual(["pass", "show", "crm;reboot", "$(id)"]);
    expect(commandOf('command:["pass", "my crm"]')).toEqual(["pass", "my crm"]);
    expect(commandOf("command:[1]")).toEqual([]);
    expect(await outputOf([node, "-p", "process.argv[1]", "$(id);`id`"], 60_000, {})).toBe("$(id);`id`\n");
  });

  it.each([
    ["process.stderr.write('hunter2'); process.exit(3)", "ended with exit code 3"],
    ["process.kill(process.pid, 'SIGTERM')", "was ended by SIGTERM"],
    ["", "printed nothing"],
    ["process.stdout.write('hunter2'.repeat(20000))", "printed more than 65536 bytes"],
  ])("is named by program and state where there is none: %s", async (code, state) => {
    const failure = await commandSecret(printing(code), {})?.catch((thrown: unknown) => thrown);
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

  it("is not waited for where that cannot be done, and says so", () => {
    expect(() => readSecret("command:pass show crm", { environment: {} })).toThrow("the command pass would have to be");
  });
});
