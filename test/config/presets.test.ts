import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { folder } from "../support/world/start.ts";

const preset = `# Made up.
fill:
  baseUrl: The address of your own server, such as https://you.example.com.
  auth.user: The account that reads.
  streams.customers.mapping.branchCode: The branch that a customer belongs to.
kind: http
auth: { kind: basic, password: env:SHOP_PASSWORD }
tables:
  words: { files: words.csv, key: from, value: to }
streams:
  customers:
    url: /customers
    query: { fields: all, active: true }
    paging: { kind: cursor, next: meta.next, size: 50 }
    key: id
    mapping:
      id: id
      name: { template: "{first} {last}" }
      customerType: { value: company }
      branchName: { value: Head office }
  staff:
    url: /people
    key: id
    mapping: { id: id, customerId: company, userName: login, name: name }
`;
const settings = `ledger: { path: ledger.db }
sources:
  shop:
    preset: shop
    baseUrl: https://shop.example.com
    auth: { user: reader }
    streams:
      customers:
        mapping:
          branchCode: { value: B1 }
`;

function load(text: string, presets: Record<string, string> = { shop: preset }) {
  const directory = folder();
  mkdirSync(join(directory, "presets"));
  for (const [name, one] of Object.entries(presets)) writeFileSync(join(directory, "presets", `${name}.yaml`), one);
  const path = join(directory, "crm.yaml");
  writeFileSync(path, text);
  const result = loadConfig({
    path,
    profiles: ["sandbox"],
    environment: { SHOP_PASSWORD: "canary" },
    presetDirectory: join(directory, "presets"),
  });
  const problems = result.ok
    ? []
    : result.error.map(
        ({ place, code, message, cure }) =>
          `${(place ?? "").replace(`${directory}/`, "")} ${code} ${message} | ${cure}`,
      );
  const loaded = result.ok ? result.value : undefined;
  return { problems, config: loaded?.config, header: loaded?.header };
}

describe("a source that names a preset", () => {
  it("has its settings, with its own over them, and the header of a run names it", () => {
    const { problems, config, header } = load(
      settings.replace("mapping:", "query: { active: false }\n        paging: { size: 20 }\n        mapping:"),
    );
    expect(problems).toEqual([]);
    expect(header?.presets).toEqual({ shop: "shop" });
    expect(config?.sources["shop"]).toMatchObject({
      kind: "http",
      baseUrl: "https://shop.example.com",
      auth: { kind: "basic", user: "reader", password: "env:SHOP_PASSWORD" },
      streams: {
        customers: {
          url: "/customers",
          query: { fields: "all", active: false },
          paging: { kind: "cursor", next: "meta.next", size: 20 },
          mapping: { id: "id", branchCode: { value: "B1" }, branchName: { value: "Head office" } },
        },
        staff: { url: "/people" },
      },
    });
  });

  it("is without what it says null to, and replaces whole what is one thing", () => {
    const { problems, config } = load(
      settings
        .replace(
          "    streams:",
          "    tables: { words: { files: words.csv, key: a, value: b, format: csv } }\n    streams:\n      staff: null",
        )
        .replace("auth: { user: reader }", "auth: { kind: bearer, token: env:SHOP_PASSWORD }")
        .replace(
          "mapping:",
          "paging: { kind: none }\n        mapping:\n          name: { path: company }\n          branchName: { path: office, default: none }",
        ),
    );
    expect(problems).toEqual([]);
    const source = config?.sources["shop"];
    expect(source?.streams.staff).toBeUndefined();
    expect(source).toMatchObject({ auth: { kind: "bearer", token: "env:SHOP_PASSWORD" } });
    expect(source?.streams.customers).toMatchObject({
      paging: { kind: "none" },
      mapping: { name: { path: "company" }, branchName: { path: "office", default: "none" } },
    });
    expect(source?.streams.customers?.mapping["name"]).toEqual({ path: "company" });
    expect(source?.tables["words"]).toMatchObject({ key: "a", value: "b" });
  });

  it("is refused with the presets that there are, where it names another", () => {
    const { problems } = load(settings.replace("preset: shop", "preset: shopp"), { shop: preset, other: preset });
    expect(problems).toEqual([
      "crm.yaml:4:5 config.preset `sources.shop.preset`: there is no preset `shopp`. | Use one of: other, shop; or remove the key and write the settings yourself.",
    ]);
    expect(load(settings.replace("preset: shop", "preset: ../shop")).problems).toHaveLength(1);
    expect(load(settings.replace("preset: shop", "preset: 7")).problems).toEqual([
      "crm.yaml:4:5 config.preset `sources.shop.preset`: the name of a preset is expected. | Use one of: shop; or remove the key and write the settings yourself.",
    ]);
  });

  it("is told what the preset leaves to it, once, at its own line", () => {
    const { problems } = load(
      "ledger: { path: ledger.db }\nsources:\n  shop:\n    preset: shop\n  more:\n    kind: fil\n",
    );
    expect(problems).toEqual([
      "crm.yaml:4:5 config.fill-in The preset shop needs your value for `sources.shop.baseUrl`: The address of your own server, such as https://you.example.com. | Write `baseUrl: …` under `sources.shop`.",
      "crm.yaml:4:5 config.fill-in The preset shop needs your value for `sources.shop.auth.user`: The account that reads. | Write `user: …` under `sources.shop.auth`.",
      "crm.yaml:4:5 config.fill-in The preset shop needs your value for `sources.shop.streams.customers.mapping.branchCode`: The branch that a customer belongs to. | Write `branchCode: …` under `sources.shop.streams.customers.mapping`.",
      'crm.yaml:6:5 config.invalid `sources.more.kind` is the text "fil"; one of file, http, sql is expected. | Did you mean `file`?',
    ]);
  });

  it("is told of what is left in a map that the preset does not have, and not in one that was taken away", () => {
    const asks = preset.replace(
      "fill:\n",
      "fill:\n  headers.office: The office.\n  streams.staff.nullTexts: What is none.\n",
    );
    const open = (more: string): string[] =>
      load(settings.replace("    streams:\n", `    streams:\n${more}`), { shop: asks }).problems.map(
        (problem) => /needs your value for `sources\.shop\.([^`]*)`/u.exec(problem)?.[1] ?? problem,
      );
    expect(open("")).toEqual(["headers.office", "streams.staff.nullTexts"]);
    expect(open("      staff: null\n")).toEqual(["headers.office"]);
  });

  it("learns of a mistake in the preset by the file and line of the preset, and of its own by its own", () => {
    const wrong = preset
      .replace("kind: cursor", "kind: cursr")
      .replace("key: id\n    mapping: { id", "kee: id\n    mapping: { id");
    expect(load(settings, { shop: wrong }).problems).toEqual([
      'presets/shop.yaml:14:15 config.invalid `sources.shop.streams.customers.paging.kind` is the text "cursr"; one of none, page, offset, cursor, keyset, nextLink, linkHeader is expected. | Did you mean `cursor`?',
      "presets/shop.yaml:23:5 config.unknown-key `sources.shop.streams.staff.kee` is not a key of `sources.shop.streams.staff`. | Did you mean `key`?",
    ]);
    expect(
      load(settings.replace("branchCode:", "branchCod:\n            path: a\n          branchCode:")).problems[0],
    ).toMatch(/^crm\.yaml:10:11 config\.invalid `sources\.shop\.streams\.customers\.mapping\.branchCod`/u);
    // A map in place of the preset's own: what is missing in it is missing here, not there.
    const [missing] = load(settings.replace("auth: { user: reader }", "auth: { kind: bearer }")).problems;
    expect(missing).toMatch(/^crm\.yaml:6:5 config\.missing `sources\.shop\.auth\.token`/u);
    const [table] = load(
      settings.replace("    streams:", "    tables: { words: { files: words.csv, key: from } }\n    streams:"),
    ).problems;
    expect(table).toMatch(/^crm\.yaml:7:\d+ config\.invalid `sources\.shop\.tables\.words\.value`: missing/u);
    expect(load(settings, { shop: "kind: [\n" }).problems[0]).toMatch(/^presets\/shop\.yaml:\d+:\d+ config\.yaml /u);
    expect(load(settings, { shop: preset.replace("  baseUrl: The", "  baseUrl: 7\n  other: The") }).problems).toEqual([
      "presets/shop.yaml:2:1 config.preset `fill` of a preset must give a text for each path of a setting. | Write the path of a setting, and the hint for it as text.",
    ]);
  });

  it("is refused by the line of the preset where that holds a secret itself, which is not repeated, or anything but data", () => {
    const open = preset.replace("env:SHOP_PASSWORD", "zqcanary");
    const [secret] = load(settings, { shop: open }).problems;
    expect(secret).toMatch(
      /^presets\/shop\.yaml:\d+:\d+ config\.invalid `sources\.shop\.auth\.password`.* must be env:NAME/u,
    );
    expect(secret).not.toContain("zqcanary");
    const code = preset.replace("url: /people", "url: !!js/function 'return 1'");
    expect(load(settings, { shop: code }).problems[0]).toMatch(/^presets\/shop\.yaml:\d+:\d+ config\.yaml .*tag/u);
    const nested = preset.replace("kind: http\n", "kind: http\npreset: other\n");
    expect(load(settings, { shop: nested, other: preset }).problems[0]).toMatch(
      /^presets\/shop\.yaml:\d+:\d+ .*preset/u,
    );
  });
});
