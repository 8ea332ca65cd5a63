import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { northwindDirectory, northwindIsMissing, northwindIsThere } from "../support/northwind.ts";
import { startServer } from "../support/http-server.ts";
import { crmSync } from "../support/program.ts";
import { folder as newFolder } from "../support/world/start.ts";

const sandboxed = { environment: { SEAL_KEY: "a key of this test that seals passwords" } };

describe("init --from", () => {
  it(
    "proposes a configuration for a stranger's files that reads all of their records",
    { tags: "long" },
    async ({ skip }) => {
      if (!northwindIsThere) skip(northwindIsMissing);
      const config = join(newFolder(), "crm-sync.yaml");
      const lists = ["customers.csv", "orders.csv", "order-details.csv"].map((name) => join(northwindDirectory, name));
      const made = await crmSync({ config }, "init", ...lists.flatMap((list) => ["--from", list]));
      expect(made.exitCode, made.stderr).toBe(0);
      const text = readFileSync(config, "utf8");
      expect(text).toMatch(/^# yaml-language-server: \$schema=/u);
      expect(text).toMatch(/DOUBT: adminEmail: no column looks like it/u);
      const checked = await crmSync({ config, ...sandboxed }, "--sandbox", "check");
      expect(checked.exitCode, checked.stdout + checked.stderr).toBe(0);
      expect(checked.stdout).toContain("customers: all 91 rows were read, and all can be used");
      expect(checked.stdout).toContain("orders: all 830 rows were read, and all can be used");
    },
  );

  it("reads what a spreadsheet of another country writes, and leads to a plan with all of its orders", async () => {
    const place = newFolder();
    const exports = join(place, "exports");
    mkdirSync(exports);
    const latin = (name: string, text: string): void => writeFileSync(join(exports, name), Buffer.from(text, "latin1"));
    latin(
      "Kunden.csv",
      "Kundennummer;Firma;Strasse;PLZ;Ort;Ansprechpartner;E-Mail;Mobile\r\n" +
        "1;Mühle GmbH;Weg 1;53111;Bonn;Frau Ä;a@example.com;+4915100000001\r\n" +
        "2;Öl AG;Gasse 2;50667;Köln;Herr B;b@example.com;+4915100000002\r\n",
    );
    latin(
      "Bestellungen-orders.csv",
      "OrderID;Kundennummer;Bestelldatum;Betrag\r\n70;1;01.07.2026;1.234,50\r\n71;2;15.08.2026;99,00\r\n",
    );
    latin("order-lines.csv", "OrderID;SKU;Bezeichnung;Menge\r\n70;CAD;CAD Programm;3\r\n71;BIM;BIM Programm;1\r\n");
    const config = join(place, "crm-sync.yaml");
    const lists = ["Kunden.csv", "Bestellungen-orders.csv", "order-lines.csv"].map((name) => join(exports, name));
    const made = await crmSync({ config }, "init", ...lists.flatMap((list) => ["--from", list]));
    expect(made.exitCode, made.stderr).toBe(0);
    const text = readFileSync(config, "utf8");
    expect(text).toContain("encoding: windows-1252");
    expect(text).toContain("format: dd.MM.yyyy");
    expect(text).toContain('decimalMark: ","');
    expect(text).toContain("directory: exports");
    const planned = await crmSync({ config, ...sandboxed }, "--sandbox", "plan");
    expect(planned.exitCode, planned.stdout + planned.stderr).toBe(2);
    expect(planned.stdout.match(/\+ E2 /gu)).toHaveLength(2);
    expect(planned.stdout.match(/\+ E5 /gu)).toHaveLength(2);
  });

  it(
    "reads abbreviated names, a few bad rows, and the seats of people from a list of their orders",
    { tags: "long" },
    async () => {
      const place = newFolder();
      const latin = (name: string, text: string): void => writeFileSync(join(place, name), Buffer.from(text, "latin1"));
      const rows = (header: string, make: (index: number) => string[]): string =>
        `${header}\r\n${Array.from({ length: 40 }, (_, index) =>
          make(index)
            .map((row) => `${row}\r\n`)
            .join(""),
        ).join("")}`;
      latin(
        "kunden.csv",
        rows("Kundennr.;Firma;Straße;PLZ;Ort;E-Mail;Telefon;Ansprechpartner", (index) => [
          `K-${index};Bau ${index} GmbH;Weg ${index};53111;Köln;k${index}@example.com;+4915100000001;Frau A`,
        ]) + ";Ohne Nummer;;;;;;\r\n",
      );
      latin(
        "auftraege.csv",
        rows("Auftragsnr;Kundennr.;Auftragsdatum;Betrag;Währung;Status", (index) => [
          `AB${index};K-${index};${index === 9 ? "31.2" : `${(index % 28) + 1}.7`}.2025;1.234,50;EUR;${index === 7 ? "Storno" : "Auftrag"}`,
        ]),
      );
      latin(
        "positionen.csv",
        rows("Auftragsnr;Pos;Artikelnr;Bezeichnung;Menge", (index) => [
          `AB${index};1;CAD;CAD Programm;2`,
          `AB${index};2;CAD;CAD Programm;1`,
        ]),
      );
      latin(
        "arbeitsplaetze.csv",
        rows("Auftragsnr;Pos;Personalnr;Name;E-Mail", (index) => [
          `AB${index};1;MA-${index};Ann Lee;ann.lee@k${index}.example.com`,
          `AB${index};2;MA-${index};Ann Lee;ann.lee@k${index}.example.com`,
        ]),
      );
      const config = join(place, "crm-sync.yaml");
      const lists = ["kunden", "auftraege", "positionen", "arbeitsplaetze"].map((name) => join(place, `${name}.csv`));
      const made = await crmSync({ config }, "init", ...lists.flatMap((list) => ["--from", list]));
      expect(made.exitCode, made.stderr).toBe(0);
      expect(made.stdout).toContain("export SEAL_KEY=");
      const text = readFileSync(config, "utf8");
      expect(text).not.toMatch(/CHOOSE_A_COLUMN|[&*]a1/u);
      expect(text.match(/encoding: windows-1252/gu)).toHaveLength(5);
      expect(text).toMatch(/format: d\.M\.yyyy/u);
      expect(text).toMatch(/path: Währung/u);
      const planned = await crmSync({ config, ...sandboxed }, "--json", "--sandbox", "plan");
      expect(planned.exitCode, planned.stdout + planned.stderr).toBe(3);
      const checked = await crmSync({ config, ...sandboxed }, "--sandbox", "check");
      expect(checked.exitCode, checked.stdout + checked.stderr).toBe(0);
      expect(checked.stdout).toMatch(
        /customers: all 41 rows were read, and 1 would be quarantined: 1 row \(missing: id/u,
      );
      expect(checked.stdout).toMatch(/orders: all 40 rows were read, and 1 would be quarantined: 1 row \(not-a-date/u);
      expect(checked.stdout).toMatch(/staff: all 40 rows were read, and all can be used/u);
      const shown = await crmSync({ config, ...sandboxed }, "--sandbox", "map", "files", "staff", "--limit", "1");
      expect(shown.stdout).toMatch(/customerId +K-0 /u);
      expect(shown.stdout).toMatch(/assets\[\]\.instanceId +A-AB0 /u);
    },
  );

  it("takes what a list holds of a customer from its first element, and pages as the answer counts them", async () => {
    const customers = Array.from({ length: 12 }, (_, index) => ({
      id: index + 1,
      companyName: `Firma ${index}`,
      address: { street: "Weg 1", zip: "3000", city: "Bern" },
      contacts: [{ type: "admin", name: "Ann Lee", email: `a${index}@example.com`, phone: "+41313000000" }],
    }));
    const url = await startServer((_request, response, { url: address = "" }) => {
      const { searchParams } = new URL(address, "http://localhost");
      const page = Number(searchParams.get("page") ?? 1);
      const size = Number(searchParams.get("per_page") ?? 5);
      const data = customers.slice((page - 1) * size, page * size);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data, pagination: { page, per_page: size, total: customers.length } }));
    });
    const config = join(newFolder(), "crm-sync.yaml");
    const made = await crmSync({ config }, "init", "--from", `${url}/customers`);
    expect(made.exitCode, made.stderr).toBe(0);
    const text = readFileSync(config, "utf8");
    expect(text).toMatch(/sources:\s+api:/u);
    expect(text).toMatch(/adminName: contacts\[0\]\.name/u);
    expect(text).toMatch(/adminEmail: contacts\[0\]\.email/u);
    expect(text).toMatch(/- address\.zip/u);
    const checked = await crmSync({ config }, "--sandbox", "check");
    expect(checked.exitCode, checked.stdout + checked.stderr).toBe(0);
    expect(checked.stdout).toMatch(/customers: all 12 rows were read, and all can be used/u);
  });

  it("asks an address with a token, which goes to that service alone and stands in no file and no message", async () => {
    const asked: string[] = [];
    const url = await startServer((request, response, { url: address }) => {
      asked.push(request.headers.authorization ?? "nothing");
      const refusal = address === "/busy" ? 429 : 401;
      response.statusCode = request.headers.authorization === "Bearer zqsecret5" ? 200 : refusal;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify([{ id: "1", companyName: "Firma", email: "a@example.com" }]));
    });
    const place = newFolder();
    const init = async (environment: Record<string, string>, ...options: string[]) =>
      await crmSync({ config: join(place, "crm-sync.yaml"), environment }, "init", ...options);
    const from = ["--from", `${url}/customers`];
    const without = await init({}, ...from);
    expect(without).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/HTTP 401[^]*--token env:NAME/u) });
    const busy = await init({}, "--from", `${url}/busy`);
    expect(busy).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/HTTP 429[^]*again later/u) });
    asked.pop();
    const unset = await init({}, ...from, "--token", "env:TOKEN");
    expect(unset).toMatchObject({
      exitCode: 64,
      stderr: expect.stringMatching(/environment variable TOKEN is not set/u),
    });
    const bare = await init({}, ...from, "--token", "zqsecret5");
    expect(bare).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/no reference to a secret/u) });
    const environment = { TOKEN: "zqsecret5" };
    const plain = await init(environment, "--from", "http://crm.example.com/customers", "--token", "env:TOKEN");
    expect(plain).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/plain http/u) });
    const two = await init(environment, ...from, "--from", "https://crm.example.com/a", "--token", "env:TOKEN");
    expect(two).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/several services/u) });
    expect(asked).toEqual(["nothing"]);
    const made = await init(environment, ...from, "--token", "env:TOKEN");
    expect(made.exitCode, made.stderr).toBe(0);
    const text = readFileSync(join(place, "crm-sync.yaml"), "utf8");
    expect(text).toMatch(/auth:\s+kind: bearer\s+token: env:TOKEN/u);
    for (const { stdout, stderr } of [without, unset, bare, plain, two, made])
      expect(text + stdout + stderr).not.toContain("zqsecret");
  });

  it("finds the list, the next page and the total in the answer of a service", async () => {
    const people = Array.from({ length: 3 }, (_, index) => ({
      id: `P${index}`,
      companyId: "C1",
      login: `person${index}`,
      firstName: "Ann",
      lastName: `Lee ${index}`,
    }));
    const url = await startServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data: { items: people }, meta: { total: 31, next: "/employees?page=2" } }));
    });
    const config = join(newFolder(), "crm-sync.yaml");
    const made = await crmSync({ config }, "init", "--from", `${url}/employees`);
    expect(made.exitCode, made.stderr).toBe(0);
    const text = readFileSync(config, "utf8");
    expect(text).toMatch(/records: data\.items/u);
    expect(text).toMatch(/total: meta\.total/u);
    expect(text).toMatch(/kind: nextLink\s+next: meta\.next/u);
    expect(text).toMatch(/staff:/u);
  });

  it("writes no secret of an address into the file, and names none in what it says", async () => {
    let body: unknown = [{ id: "P1", companyId: "C1", login: "person1", firstName: "Ann", lastName: "Lee" }];
    const asked: string[] = [];
    const url = await startServer((_asked, response, { url: address = "" }) => {
      asked.push(address);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(body));
    });
    const config = join(newFolder(), "crm-sync.yaml");
    const query = "?active=1&api_key=zqsecret1&X-Sig=zqsecret2&design=a&accessToken=zqsecret3&keyword=b&author=c";
    const made = await crmSync({ config }, "init", "--from", `${url}/employees${query}`);
    expect(made.exitCode, made.stderr).toBe(0);
    expect(asked).toEqual([`/employees${query}`]);
    const text = readFileSync(config, "utf8");
    expect(text).toContain("url: /employees?active=1&design=a&keyword=b&author=c\n");
    for (const name of ["api_key", "X-Sig", "accessToken"])
      expect(text).toMatch(new RegExp(`DOUBT: the query parameter ${name} looks like a secret .*\\s.*\`auth\``, "u"));
    body = [{ a: 1 }];
    const unknown = await crmSync({ config: join(newFolder(), "a.yaml") }, "init", "--from", `${url}/things${query}`);
    expect(unknown).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/\/things: nobody can tell/u) });
    const none = await crmSync({ config: join(newFolder(), "a.yaml") }, "init", "--from", "http://:zqsecret4");
    expect(none).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/is no address/u) });
    for (const shown of [text, made.stdout, made.stderr, unknown.stdout, unknown.stderr, none.stderr])
      expect(shown).not.toContain("zqsecret");
  });

  it("says which list it cannot tell the kind of, and writes nothing over what is there", async () => {
    const place = newFolder();
    writeFileSync(join(place, "x.csv"), "a,b\n1,2\n");
    const config = join(place, "crm-sync.yaml");
    const unknown = await crmSync({ config }, "init", "--from", join(place, "x.csv"));
    expect(unknown).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/x\.csv: nobody can tell/u) });
    const gone = await crmSync({ config }, "init", "--from", join(place, "gone.csv"));
    expect(gone).toMatchObject({ exitCode: 64, stderr: expect.stringMatching(/no file .*gone\.csv/u) });
    writeFileSync(config, "mine");
    expect((await crmSync({ config }, "init", "--from", join(place, "x.csv"))).exitCode).toBe(64);
    expect(readFileSync(config, "utf8")).toBe("mine");
  });
});
