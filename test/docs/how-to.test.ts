import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crmSync, runResultOf } from "../support/program.ts";
import { folder as newFolder } from "../support/world/start.ts";
import { blocksOf, project } from "./page-checks.ts";

/** Examples of how-to pages with rows of a CRM: what `crm-sync map` makes of them. */
const examples: readonly {
  page: string;
  /** Which of the configurations of the page. */
  example: number;
  stream: string;
  files: Readonly<Record<string, string>>;
  /** Fields of the records, each with its values in the order of the records. */
  gives: Readonly<Record<string, readonly unknown[]>>;
}[] = [
  {
    page: "people-who-left",
    example: 0,
    stream: "hr staff",
    files: {
      "staff.ndjson": [
        '{"number":"1","company":"C1","email":"ann@example.com","name":"Ann","status":"here","licences":[{"number":"8001"}]}',
        '{"number":"2","company":"C1","email":"bob@example.com","name":"Bob","status":"left","licences":[{"number":"8002"}]}',
      ].join("\n"),
    },
    gives: { assets: [[{ assetNumber: "8001" }], []] },
  },
  {
    page: "quantities-and-seats",
    example: 0,
    stream: "crm orders",
    files: { "orders.csv": "number,customer,ordered,sku,quantity\nA1,C1,2026-10-01,CAD-10,3\n" },
    gives: { instances: [[expect.objectContaining({ quantity: 30 }), expect.objectContaining({ gmsPid: "CAD" })]] },
  },
  {
    page: "quantities-and-seats",
    example: 1,
    stream: "hr staff",
    files: { "seats.csv": "seat,email,company,name,asset\n1,a@example.com,C1,Ann,I1\n2,a@example.com,C1,Ann,I2\n" },
    gives: { assets: [[{ instanceId: "I1" }, { instanceId: "I2" }]] },
  },
  {
    page: "map-fields",
    example: 0,
    stream: "crm customers",
    files: {
      "customers.csv": "number,company,street,zip,city,kind,branch,region\nC1,Nordhafen,Kai 4,20457,Hamburg,C,,N\n",
    },
    gives: { customerType: ["company"], branchCode: ["N"], branchName: ["Head office"] },
  },
];

describe("the examples of how-to pages", () => {
  it.each(examples)("$page ($example) maps rows as it says", async ({ page, example, stream, files, gives }) => {
    const folder = newFolder();
    const text = readFileSync(join(project, `docs/how-to/${page}.md`), "utf8");
    const config = join(folder, "crm-sync.yaml");
    writeFileSync(config, `ledger: { path: ledger.db }\n${blocksOf(text, "yaml")[example] ?? ""}`);
    mkdirSync(join(folder, "export"));
    for (const [name, rows] of Object.entries(files)) writeFileSync(join(folder, "export", name), rows);
    const words = ["--sandbox", "--json", "map", ...stream.split(" "), "--show-private"];
    const ended = await crmSync({ config, environment: { CRM_SYNC__log__level: "silent" } }, ...words);
    expect(ended.stderr).toBe("");
    const { records } = JSON.parse(ended.stdout) as { records: { record: Record<string, unknown> }[] };
    for (const [field, values] of Object.entries(gives))
      expect(records.map(({ record }) => record[field])).toEqual(values);
  });
});

it("the first week begins without a write, and its policies let only new customers through", async () => {
  const folder = newFolder();
  cpSync(join(project, "docs/tutorial/export"), folder, { recursive: true });
  const place = { config: join(folder, "crm-sync.yaml"), environment: { CRM_SYNC__log__level: "silent" } };
  const lists = ["customers.csv", "orders.csv", "order-lines.csv"].flatMap((name) => ["--from", join(folder, name)]);
  await crmSync(place, "init", ...lists);
  const [watching = ""] = blocksOf(readFileSync(join(project, "docs/how-to/first-week.md"), "utf8"), "yaml");
  writeFileSync(place.config, `${readFileSync(place.config, "utf8")}${watching}`);
  const type = async (...words: string[]): Promise<string> => (await crmSync(place, "--sandbox", ...words)).stdout;
  expect(await type("plan")).toContain("exit 4");
  await type("pause", "--reason", "first week: watch only");
  expect(await type("run", "customers-and-orders")).toContain("writing calls: 0");
  await type("resume");
  const { writingCalls, balance } = runResultOf(
    await crmSync(place, "--sandbox", "--json", "run", "customers-and-orders"),
  );
  expect(writingCalls).toBe(3);
  expect(balance["operations"]).toMatchObject({ done: 3, held: 3 });
});
