import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { askedTwice } from "../../src/cli/password-question.ts";

it("a password is asked twice, and nothing of what is typed is shown", async () => {
  const ask = async (...typed: string[]): Promise<{ password: string; shown: string }> => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    let shown = "";
    const write = (text: string): boolean => {
      shown += text;
      if (text !== "\n") terminal.write(`${typed.shift()}\n`);
      return true;
    };
    return { password: await askedTwice(terminal, { write }), shown };
  };
  const { password, shown } = await ask("four words of anna", "four words of anna");
  expect([password, shown]).toEqual(["four words of anna", expect.not.stringContaining("words")]);
  await expect(ask("four words of anna", "four words of sam")).rejects.toThrow();
});
