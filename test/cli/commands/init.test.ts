import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { document, type Parsed } from "../../support/cli.ts";
import { northwindDirectory, northwindIsMissing, northwindIsThere } from "../../support/northwind.ts";
import { licenseTypes } from "../../../src/contract/vocabulary.ts";
import { rowsOfCsv, workbook } from "../../support/xlsx.ts";
import { crmSync, type Ended } from "../../support/program.ts";
import { folder as newFolder } from "../../support/world/start.ts";

const environment = { SEAL_KEY: "a key of this test that seals passwords" };

interface Made extends Ended {
  config: string;
  /** What stands in the configuration. */
  text: string;
}

/** `init` with these options, for a configuration in this folder. */
async function init(place: string, ...options: string[]): Promise<Ended> {
  return await crmSync({ config: join(place, "crm-sync.yaml"), environment }, "init", ...options);
}

/** `init --from` each of these lists. Expects that it made a configuration. */
async function made(place: string, lists: readonly string[], ...more: string[]): Promise<Made> {
  const ended = await init(place, ...lists.flatMap((list) => ["--from", list]), ...more);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const config = join(place, "crm-sync.yaml");
  return { ...ended, config, text: readFileSync(config, "utf8") };
}

/** Puts lists of these rows into a folder, as a spreadsheet in western Europe writes them. Gives their paths. */
function spreadsheets(folder: string, lists: Record<string, string[]>): string[] {
  mkdirSync(folder, { recursive: true });
  return Object.entries(lists).map(([name, rows]) => {
    writeFileSync(join(folder, name), Buffer.from(`${rows.join("\r\n")}\r\n`, "latin1"));
    return join(folder, name);
  });
}

/** What `check` says of each stream of a configuration, and its exit code. */
async function checked(config: string): Promise<{ exitCode: number | null; streams: Parsed[] }> {
  const { exitCode, stdout } = await crmSync({ config, environment }, "--sandbox", "--json", "check");
  return {
    exitCode,
    streams: JSON.parse(stdout).filter(({ kind }: Parsed) => kind === "records" || kind === "source"),
  };
}

describe("init", () => {
  it("makes a configuration from a template, and never writes over one", async () => {
    const place = newFolder();
    const neither = await init(place);
    expect([neither.exitCode, neither.stderr]).toEqual([64, expect.stringContaining("crm-sync init --from FILE")]);
    const unknown = await init(place, "--template", "oracle");
    expect([unknown.exitCode, unknown.stderr]).toEqual([64, expect.stringMatching(/postgres, sqlite, .*hubspot/u)]);
    expect((await init(place, "--template", "postgres")).exitCode).toBe(0);
    expect(statSync(join(place, "crm-sync.yaml")).mode & 0o777).toBe(0o644);
    const again = await init(place, "--template", "postgres", "--json");
    expect([again.exitCode, document(again).error.code]).toEqual([64, "init.exists"]);
  });

  it.each(["postgres", "sqlite", "odoo-postgres"])("--template %s needs nothing but what it marks", async (name) => {
    const place = newFolder();
    expect((await init(place, "--template", name)).exitCode).toBe(0);
    const config = join(place, "crm-sync.yaml");
    const own = { ...environment, CRM_DB_PASSWORD: "a long password", ODOO_DB_PASSWORD: "a long password" };
    const { exitCode, stderr } = await crmSync({ config, environment: own }, "--sandbox", "map", "crm", "customers");
    if (name === "odoo-postgres") {
      expect([exitCode, readFileSync(config, "utf8").match(/DOUBT: /gu)?.length]).toEqual([78, 6]);
      for (const key of ["connection.host", "tables.products"]) expect(stderr).toContain(`sources.crm.${key}`);
    } else expect(exitCode, stderr).not.toBe(78);
  });

  it("--template sqlite reads a database with the tables that its queries name", async () => {
    const place = newFolder();
    expect((await init(place, "--template", "sqlite")).exitCode).toBe(0);
    const database = new Database(join(place, "crm.db"));
    database.exec(`
      create table customers (id, name, kind, branch_code, branch_name, address, admin_name, admin_email, admin_mobile, changed_at);
      create table orders (id, customer_id, ordered_at, cancelled, currency, total, changed_at);
      create table order_lines (id, order_id, product_code, product_name, seats, license_type, product_type, starts_on, term_months);
      create table staff (id, customer_id, e_mail, name, mobile, changed_at);
      create table seats (staff_id, order_line_id);
      insert into customers values ('1', 'Bau GmbH', 'company', 'B1', 'North', 'Weg 1', 'Ann Lee', 'a@example.com', '+4915100000001', 1);
      insert into orders values ('7', '1', '2026-03-01T10:00:00Z', 'false', 'EUR', '9.50', 1);
      insert into order_lines values ('71', '7', 'CAD', 'CAD 3D', 1, 'cloud_account', 'tool', '2026-03-01', 12);
      insert into staff values ('S1', '1', 'ann.lee@example.com', 'Ann Lee', '+4915100000002', 1);
      insert into seats values ('S1', '71');`);
    database.close();
    const config = join(place, "crm-sync.yaml");
    expect((await checked(config)).exitCode).toBe(0);
    const planned = await crmSync({ config, environment }, "--sandbox", "plan");
    expect(planned.exitCode, planned.stdout).toBe(2);
    for (const what of ["+ create the enterprise", "+ place order ", "S1"]) expect(planned.stdout).toContain(what);
  });

  it(
    "--from takes the files of a stranger, and says which records wait and why",
    { tags: "long" },
    async ({ skip }) => {
      if (!northwindIsThere) skip(northwindIsMissing);
      const lists = ["customers.csv", "orders.csv", "order-details.csv"].map((name) => join(northwindDirectory, name));
      const { config } = await made(newFolder(), lists);
      const { exitCode, streams } = await checked(config);
      // The sample has some telephone numbers that no country has.
      expect(exitCode).toBe(0);
      const said = streams.map(({ detail }) => detail).join("\n");
      for (const line of [
        /all 91 rows were read, and 19 would be quarantined: 19 rows \(not-a-phone-number: adminMobile: /u,
        /all 830 rows were read, and all can be used/u,
      ])
        expect(said).toMatch(line);
    },
  );

  it("--from takes what a spreadsheet of another country writes, and leads to a plan of it", async () => {
    const place = newFolder();
    const lists = spreadsheets(join(place, "exports"), {
      "Kunden.csv": [
        "Kundennummer;Firma;Strasse;PLZ;Ort;Ansprechpartner;E-Mail;Mobile",
        "1;Mühle GmbH;Weg 1;53111;Bonn;Frau Ä;a@example.com;+4915100000001",
        "2;Öl AG;Gasse 2;50667;Köln;Herr B;b@example.com;+4915100000002",
      ],
      "Bestellungen-orders.csv": [
        "OrderID;Kundennummer;Bestelldatum;Betrag",
        "70;1;01.07.2026;1.234,50",
        "71;2;15.08.2026;99,00",
      ],
      "order-lines.csv": ["OrderID;SKU;Bezeichnung;Menge", "70;CAD;CAD Programm;3", "71;BIM;BIM Programm;1"],
    });
    const { config, text } = await made(place, lists);
    for (const setting of ["encoding: windows-1252", "format: dd.MM.yyyy", 'decimalMark: ","', "directory: exports"])
      expect(text).toContain(setting);
    const planned = await crmSync({ config, environment }, "--sandbox", "plan");
    expect(planned.exitCode, planned.stdout).toBe(2);
    for (const what of ["create the enterprise", "place order "])
      expect(planned.stdout.split(`+ ${what}`)).toHaveLength(3);
  });

  it.each([
    ["a first line that names the delimiter", ";", "utf8", "sep=;\r\n", ""],
    ["the mark of UTF-16", "\t", "utf16le", "\uFEFF", "encoding: utf-16le"],
    ["UTF-16 without a mark", "\t", "utf16le", "", "encoding: utf-16le"],
  ] as const)("--from finds %s, and the columns behind it", async (_what, mark, encoding, before, says) => {
    const place = newFolder();
    const text = (...rows: string[][]): Buffer =>
      Buffer.from(before + rows.map((row) => `${row.join(mark)}\r\n`).join(""), encoding);
    const lists = [join(place, "customers.csv"), join(place, "orders.csv")];
    const customers = text(
      ["no", "name", "address", "email", "mobile"],
      ["C1", "Nordhafen GmbH", "Kai 1", "a@example.com", "+491"],
      ["C2", "Südwerk AG", "Weg 2", "b@example.com", "+492"],
    );
    writeFileSync(lists[0] ?? "", customers);
    writeFileSync(lists[1] ?? "", "no,customer,date\nO1,C1,2026-05-02\nO2,C2,2026-05-03\n");
    const { config, text: proposed } = await made(place, lists);
    expect(proposed).toContain(mark === ";" ? "delimiter: ;" : 'delimiter: "\\t"');
    expect(proposed).toContain(says);
    const planned = await crmSync({ config, environment }, "--sandbox", "plan");
    expect(planned.exitCode, planned.stdout).toBe(2);
    for (const what of ["create the enterprise", "place order "])
      expect(planned.stdout.split(`+ ${what}`)).toHaveLength(3);
  });

  it("--from knows abbreviated names, and passes over a few bad rows", { tags: "long" }, async () => {
    const place = newFolder();
    const forty = Array.from({ length: 40 }, (_, index) => index);
    const lists = spreadsheets(place, {
      "kunden.csv": [
        "Kundennr.;Firma;Straße;PLZ;Ort;E-Mail;Telefon;Ansprechpartner",
        ...forty.map((n) => `K-${n};Bau ${n} GmbH;Weg ${n};53111;Köln;k${n}@example.com;+4915100000001;Frau A`),
        ";Ohne Nummer;;;;;;",
      ],
      "auftraege.csv": [
        "Auftragsnr;Kundennr.;Auftragsdatum;Betrag;Währung;Status",
        ...forty.map(
          (n) =>
            `AB${n};K-${n};${n === 9 ? "31.2" : `${(n % 28) + 1}.7`}.2025;1.234,50;EUR;${n === 7 ? "Storno" : "Auftrag"}`,
        ),
      ],
      "positionen.csv": [
        "Auftragsnr;Pos;Artikelnr;Bezeichnung;Menge",
        ...forty.flatMap((n) => [`AB${n};1;CAD;CAD Programm;2`, `AB${n};2;CAD;CAD Programm;1`]),
      ],
      "mitarbeiter.csv": [
        "Personalnr;Kundennr.;Name;E-Mail",
        ...forty.map((n) => `MA-${n};K-${n};Ann Lee;ann.lee@k${n}.example.com`),
      ],
    });
    const { config, text } = await made(place, lists);
    expect(text).not.toContain("CHOOSE_A_COLUMN");
    expect(text).toMatch(/format: d\.M\.yyyy/u);
    const { exitCode, streams } = await checked(config);
    expect(exitCode).toBe(0);
    const warned = streams.filter(({ warning }) => warning).map(({ what }) => what);
    expect(warned).toEqual(["source files, customers", "source files, orders"]);
  });

  it("lists what it guessed with the lines of the file, and explains the licence types", async () => {
    const place = newFolder();
    const lists = spreadsheets(place, {
      "customers.csv": ["id;name;email;fax", "1;Bau GmbH;a@example.com;1", "2;Öl AG;b@example.com;2"],
      "orders.csv": ["order no;customer no;status", "7;1;open", "8;2;void"],
      "order-lines.csv": ["order no;sku;qty", "7;CAD;1", "8;CAD;2"],
      "staff.csv": ["id;name;customer no;status", "9;Ann Lee;1;works here", "10;Bob Roe;1;left"],
    });
    const { text, stdout } = await made(place, lists);
    const lines = text.split("\n");
    const listed = [...stdout.matchAll(/^ {2}line +(\d+) {2}\w+: (.*)$/gmu)].map(([, line, doubt]) => [
      Number(line),
      doubt,
    ]);
    expect(listed).toHaveLength(text.match(/DOUBT: /gu)?.length ?? 0);
    for (const [line, doubt] of listed) expect(lines[Number(line) - 1]?.trim()).toBe(`# DOUBT: ${doubt}`);
    const doubts = listed.map(([, doubt]) => doubt).join("\n");
    for (const guess of [
      /the text is in windows-1252/u,
      /"void" in status means a cancelled order: its licences are removed/u,
      /nothing reads the columns fax/u,
      /status \(works here, left\) decides nothing/u,
      /made of the product, since no column numbers the lines/u,
      /product type: .*assumptions\.productTypes \(A22\)/u,
    ])
      expect(doubts).toMatch(guess);
    for (const type of licenseTypes) expect(text).toMatch(new RegExp(`# +${type} +\\S`, "u"));
    expect(text).toMatch(/^# {2}productTypes:$/mu);
  });

  it.each([
    ["Stage", ["Closed Won", "Negotiation", "Closed Lost"], 4],
    ["where is it", ["delivered", "draft", "quote"], 4],
    ["dealstage", ["appointmentscheduled", "closedwon", "closedlost"], 4],
    ["Phase", ["bezahlt", "Angebot", "storniert"], 2],
  ])("--from leaves out what the column %s says is no order", async (column, words, skipped) => {
    const place = newFolder();
    const lists = spreadsheets(place, {
      "customers.csv": ["id;name;email", "C1;Bau GmbH;a@example.com"],
      "orders.csv": [
        `order no;customer no;date;${column}`,
        ...[0, 1, 2, 0, 1, 2].map((word, index) => `O${index};C1;2026-05-0${index + 1};${words[word]}`),
      ],
    });
    const { config, text, stdout } = await made(place, lists);
    for (const word of words) expect(stdout).toMatch(new RegExp(`line .*"${word}"`, "u"));
    expect(text).toMatch(/DOUBT: .* no order: such rows are left out\n +skip:/u);
    const { streams } = await checked(config);
    expect(streams.map(({ detail }) => detail)).toContain(
      `all 6 rows were read, ${skipped} rows of them skipped, and all can be used`,
    );
    expect(text).toMatch(skipped === 2 ? /"true":\s+- storniert/u : /"true":\s+- CANCELLED/u);
  });

  it("names each place where a column is still to be chosen, and the columns of the file", async () => {
    const place = newFolder();
    const lists = spreadsheets(place, {
      "employees.csv": ["nr,nick,mail", "1,Ann,a@example.com", "2,Bob,b@example.com"],
    });
    const { config, text } = await made(place, lists);
    const lines = text.split("\n").flatMap((line, index) => (line.includes("CHOOSE_A_COLUMN") ? [index + 1] : []));
    expect(lines.length).toBeGreaterThan(0);
    const ended = await crmSync({ config, environment }, "--sandbox", "check");
    expect(ended.stdout).toContain(`still to be chosen: CHOOSE_A_COLUMN (lines ${lines.join(", ")})`);
    expect(ended.stdout).toContain('has no column "CHOOSE_A_COLUMN", which the configuration reads');
    expect(text).toMatch(/nothing reads the columns .*nick/u);
  });

  it("takes names of products for no states of a sale", async () => {
    const lists = spreadsheets(newFolder(), {
      "orders.csv": ["order no;customer no;date;title", "7;1;2026-05-01;Quote Writer", "8;2;2026-05-02;Lead Finder"],
    });
    expect((await made(newFolder(), lists)).text).not.toContain("skip:");
  });

  it("says that every row is ordered if no column says which orders count", async () => {
    const lists = spreadsheets(newFolder(), {
      "orders.csv": ["order no;customer no;date", "7;1;2026-05-01", "8;2;2026-05-02"],
    });
    const { stdout } = await made(newFolder(), lists);
    expect(stdout).toContain("cancelled stays empty: no column says which orders count: every row is ordered");
  });

  it("--from takes each sheet of a workbook, and headers below a title", async () => {
    const place = newFolder();
    const customers = [
      "no,name,address,email,mobile",
      "C1,Nord GmbH,Kai 1,a@example.com,+491",
      "C2,Süd AG,Weg 2,b@example.com,+492",
    ];
    const sheets = {
      Customers: [["Our customers"], [""], ...rowsOfCsv(customers.join("\n"))],
      Orders: rowsOfCsv("no,customer,date\nO1,C1,2026-05-02\nO2,C2,2026-05-03"),
      Notes: [["x"], ["y"]],
    };
    writeFileSync(join(place, "crm.xlsx"), workbook(sheets));
    const { config, text } = await made(place, [join(place, "crm.xlsx")]);
    for (const part of ["sheet: Customers", "skipRows: 1", "sheet: Orders", "these sheets are left out: Notes"])
      expect(text).toContain(part);
    const planned = await crmSync({ config, environment }, "--sandbox", "plan");
    expect(planned.exitCode, planned.stdout).toBe(2);
    for (const what of ["create the enterprise", "place order "])
      expect(planned.stdout.split(`+ ${what}`)).toHaveLength(3);
  });

  it.each([
    ["windows-1252", Buffer.from("Müller & Söhne", "latin1"), "Müller & Söhne", true],
    ["utf-16le", Buffer.from("Öl AG", "utf16le"), "Öl AG", true],
  ] as const)("--from finds text in %s", async (encoding, name, expected, isCompressed) => {
    const place = newFolder();
    const plain = (text: string): Buffer => Buffer.from(text, encoding === "utf-16le" ? "utf16le" : "latin1");
    const bytes = Buffer.concat([plain("id,name,email\n1,"), name, plain(",a@example.com\n")]);
    const list = join(place, isCompressed ? "customers.csv.gz" : "customers.csv");
    writeFileSync(list, isCompressed ? gzipSync(bytes) : bytes);
    const { config, text } = await made(place, [list]);
    expect(text).toContain(`encoding: ${encoding}\n`);
    expect(text.includes(`DOUBT: the text is in ${encoding}`)).toBe(!encoding.startsWith("utf-"));
    const words = ["--sandbox", "--json", "map", "files", "customers", "--show-private"];
    const mapped = await crmSync({ config, environment }, ...words);
    expect(mapped.stdout).toContain(expected);
  });

  it("proposes start and end of licences, and the length of a term", async () => {
    const lists = (columns: string, ...rows: string[]): string[] =>
      spreadsheets(newFolder(), { "orders.csv": [`order no;customer no;date;${columns}`, ...rows] });
    const dates = await made(
      newFolder(),
      lists("Gültig von;Gültig bis", "7;1;2026-05-01;01.05.2026;30.04.2027", "8;1;2026-05-01;01.06.2026;31.05.2027"),
    );
    expect(dates.text).toMatch(/limitStart:\s+date: Gültig von\s+format: dd\.MM\.yyyy/u);
    expect(dates.text).toMatch(
      /DOUBT: Gültig bis counts as the last day[^\n]*\n +limitEnd:\s+plusTerm:\s+date: Gültig bis/u,
    );
    expect(dates.stdout).not.toContain("never end");
    const months = await made(
      newFolder(),
      lists("start;months", "7;1;2026-05-01;2026-05-01;12", "8;1;2026-05-01;2026-06-01;6"),
    );
    expect(months.text).toMatch(
      /timeUnit:\s+value: MONTH\s+timeUnitQuantity: months\s+term:\s+template: 0-\{months\}-0/u,
    );
    expect(months.text).toMatch(/limitEnd:\s+plusTerm:\s+date: start/u);
    const none = await made(newFolder(), lists("term", "7;1;2026-05-01;yearly", "8;1;2026-05-01;monthly"));
    expect(none.stdout).toMatch(/timeUnit: these licences would never end; perhaps term says the term/u);
  });

  it("makes phone numbers and account names in the form that the platform takes", async () => {
    const people = [
      "id;customer;first name;last name;homePhone;employment",
      "1;C1;Anna Maria;Müller;+49 151 23457001;works here",
      "2;C1;Bob;Roe;0151 23457002;left",
    ];
    const { config, text, stdout } = await made(newFolder(), spreadsheets(newFolder(), { "staff.csv": people }));
    expect(stdout).toContain("employment (works here, left) decides nothing");
    expect(text).toMatch(/DOUBT: the country of numbers without \+ or 00\s+mobile:\s+phone: homePhone\s+country: DE/u);
    const words = ["--sandbox", "--json", "map", "files", "staff", "--show-private"];
    const mapped = await crmSync({ config, environment }, ...words);
    for (const value of ["annamariamuller", "+4915123457001", "+4915123457002"]) expect(mapped.stdout).toContain(value);
  });

  it("says that people have several rows where their ids do", async () => {
    const people = ["id;name;customer", "1;Ann;C1", "1;Ann;C1", "2;Bob;C1"];
    const { stdout } = await made(newFolder(), spreadsheets(newFolder(), { "staff.csv": people }));
    expect(stdout).toContain("id stands in several rows: set `group`");
  });

  it("names a folder far away from the root", async () => {
    const place = newFolder();
    const lists = spreadsheets(join(place, "exports"), { "staff.csv": ["id;name;customer", "1;Ann;C1"] });
    const deep = join(place, "a/b/c");
    mkdirSync(deep, { recursive: true });
    expect((await made(deep, lists)).text).toContain(`directory: ${join(place, "exports")}\n`);
    expect((await made(join(place, "a"), lists)).text).toContain("directory: ../exports\n");
  });

  it("asks for the lists in a folder one by one", async () => {
    const place = newFolder();
    spreadsheets(place, { "x.csv": ["a,b", "1,2"] });
    expect(await init(place, "--from", place)).toMatchObject({
      exitCode: 64,
      stderr: `${place} is a folder, and init reads files\n  → name each list in it: --from ${place}/FILE\n`,
    });
  });

  it("refuses a list whose kind it cannot tell, and one that is not there", async () => {
    const place = newFolder();
    const [list = ""] = spreadsheets(place, { "x.csv": ["a,b", "1,2"] });
    for (const from of [list, join(dirname(list), "gone.csv")]) {
      const refused = await init(place, "--from", from);
      expect([refused.exitCode, refused.stderr]).toEqual([64, expect.stringContaining(from)]);
    }
  });
});
