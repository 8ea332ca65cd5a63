import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeFiles } from "../../../src/app/guided/write-files.ts";
import { folder as newFolder } from "../../support/world/start.ts";

it("a configuration that came up meanwhile stays as it is, and no secret is left beside it", () => {
  const place = newFolder();
  const path = join(place, "crm-sync.yaml");
  const secret = join(place, "secrets", "seal-key");
  writeFileSync(path, "mine");
  expect(() => writeFiles({ path, text: "other", replaces: false }, new Map([[secret, "s"]]))).toThrow("EEXIST");
  expect(readFileSync(path, "utf8")).toBe("mine");
  expect(existsSync(secret)).toBe(false);
  expect(readdirSync(place).toSorted()).toEqual(["crm-sync.yaml", "secrets"]);
});

it("a secret that is there already is never written over, and nothing else is written then", () => {
  const place = newFolder();
  const path = join(place, "crm-sync.yaml");
  const [first, second] = [join(place, "one"), join(place, "two")];
  writeFileSync(second, "kept");
  const secrets = new Map([
    [first, "1"],
    [second, "2"],
  ]);
  expect(() => writeFiles({ path, text: "other", replaces: false }, secrets)).toThrow("EEXIST");
  expect(readdirSync(place)).toEqual(["two"]);
  expect(readFileSync(second, "utf8")).toBe("kept");
});
