import { expect, it } from "vitest";
import { world } from "../support/cli.ts";

it(
  "a command line does and says the same in a process of its own as in that of the tests",
  { tags: "long" },
  async () => {
    const w = await world({ isOnMachineTime: true });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const lines = [
      ["check"],
      ["--json", "runs"],
      ["explain", "order", "O1"],
      ["settle", "list"],
      ["audit", "export"],
      ["statis"],
      ["run"],
    ];
    for (const words of lines) {
      const own = await w.start(...words).ended;
      const here = await w.run(...words);
      // The one is asked a moment after the other: an age in seconds may differ.
      const ageless = (text: string): string => text.replaceAll(/\b\d+ s\b/gu, "… s");
      const [one, other] = [own, here].map(({ exitCode, signal, stdout, stderr }) => ({
        exitCode,
        signal,
        stdout: ageless(stdout),
        stderr,
      }));
      expect(other, words.join(" ")).toEqual(one);
    }
  },
);
