import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import { Writer } from "../../src/ledger/database/writer.ts";
import { SeenForms } from "../../src/ledger/records/seen-forms.ts";
import { StagedRecords } from "../../src/ledger/records/staged-records.ts";
import { key } from "../support/world/records.ts";
import { folder, sqlite } from "../support/world/start.ts";

const forms = (length: number): string[] => Array.from({ length }, (_, index) => sha256(`form ${index}`));

function seenForms(options: { mostPages?: number } = {}): SeenForms {
  const seen = new SeenForms(options);
  onTestFinished(() => seen.close());
  return seen;
}

it("every form that a reading met is known again, in order and by the page", () => {
  const seen = seenForms();
  const met = forms(5_000);
  seen.add(met.slice(0, 3_000));
  seen.add(met.slice(2_000));
  expect(met.every((hash) => seen.has(hash))).toBe(true);
  expect(seen.has(sha256("another"))).toBe(false);
  expect([...new Set(seen.inOrder())]).toEqual(met.toSorted());
  expect(new Set([...seen.pages()].flat())).toEqual(new Set(met));
});

it("a temporary folder that is full fails the reading and not the ledger", async () => {
  const writer = new Writer(sqlite(join(folder(), "ledger.db")));
  const seen = seenForms({ mostPages: 60 });
  seen.add(forms(4_000));
  const first = writer.write(() => seen.has("0"));
  await expect(first, "the order that it is looked up in has no room").rejects.toMatchObject({
    code: "source.no-temporary-space",
  });
  const closing = writer.write(() => [...seen.inOrder()]);
  await expect(closing).rejects.toMatchObject({ code: "source.no-temporary-space" });
  expect(() => seen.add(forms(1)), "what it holds is not to be relied on").toThrow("temporary folder");
  expect(seen.failed).toBe(true);
  expect(writer.broken).toBeUndefined();
  await writer.write(() => undefined);
});

it("a temporary folder that is full fails the comparison with staged rows and not the ledger", async () => {
  const writer = new Writer(sqlite(join(folder(), "ledger.db")));
  const staged = new StagedRecords({ mostPages: 60 });
  onTestFinished(() => staged.close());
  const keys = Array.from({ length: 1_500 }, (_, index) => key(`a customer with a long number ${index}`));
  const common = { rawHash: "", place: "", customer: key("C"), raw: "" };
  const rows = keys.map((one) => ({ record: { ...common, key: one, record: {} } }));
  expect(() => staged.put(rows)).toThrow("temporary folder");
  const compared = writer.write(() => staged.find(keys));
  await expect(compared).rejects.toMatchObject({ code: "source.no-temporary-space" });
  expect(writer.broken).toBeUndefined();
});
