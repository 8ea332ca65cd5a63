import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { filesOf } from "../../src/books/statements.ts";
import { writeFilesWhole } from "../../src/operate/written-files.ts";
import { folder } from "../support/world/start.ts";

it("files that belong together appear together, and none does when a later one fails", async () => {
  const inside = folder();
  async function* pieces(fails: boolean) {
    yield { file: "", chunk: "a" };
    yield { file: "", chunk: "b" };
    yield { file: "second", chunk: "c" };
    if (fails) throw new Error("the ledger is gone");
    yield { file: "third", chunk: "{}" };
  }
  const options = { pathOf: (file: string) => `${inside}/x${file}`, what: "report", group: undefined };
  await expect(writeFilesWhole(filesOf(pieces(true)), options)).rejects.toThrow("the ledger is gone");
  expect(readdirSync(inside)).toEqual([]);
  const written = await writeFilesWhole(filesOf(pieces(false)), options);
  expect(written).toEqual([`${inside}/x`, `${inside}/xsecond`, `${inside}/xthird`]);
  expect(readFileSync(`${inside}/x`, "utf8")).toBe("ab");
});
