import type { RequestListener } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { company, customersMapping, exported, staffMapping, type Person } from "../company.ts";
import type { Life, Living } from "../life.ts";
import { begin } from "./people.ts";

const ordersOfFiles = `  shop:
    kind: file
    directory: shop
    tables:
      types: { inline: { Cloud: cloud_account, Key: normal_recover_usbkey } }
    streams:
      orders:
        files: orders.csv
        csv: { delimiter: ";" }
        key: number
        details:
          assets: { files: assets.csv, key: order }
          products: { files: products-*.csv, key: order }
        mapping:
          id: number
          customerId: customer
          cancelled: { boolean: state, "true": cancelled, "false": [open, paid] }
          placedAt: { date: placed, format: dd.MM.yyyy, zone: Europe/Berlin }
          amount: { money: total, currency: EUR, decimalMark: ",", groupMark: "." }
          instances:
            - { kind: asset, each: assets, fields: { id: id, licenseType: { lookup: { table: types, key: type } } } }
            - kind: product
              each: products
              fields:
                id: id
                parentId: parent
                name: { trim: name }
                gmsPid: { upper: pid }
                type: { value: tool }
                nodes: seats
                timeUnit: { value: YEAR }
                timeUnitQuantity: years
                term: { template: "{years}-0-0" }
`;

const customersOfDatabase = `  erp:
    kind: sql
    connection: { kind: sqlite, file: erp.db }
    streams:
      customers:
        query: select * from customer
        key: id
        since: { column: changed, overlap: 0s }
        mapping:${customersMapping}
`;

/** People of an HTTP service; `settings` of the stream. */
export const peopleOf = (url: string, settings: string): string => `  people:
    kind: http
    baseUrl: ${url}
    auth: { kind: bearer, token: env:PEOPLE_TOKEN }
    retries: 1
    retryBaseMs: 1
    streams:
      staff:
        url: people
        key: id
${settings}        mapping:${staffMapping}
`;

const inPages =
  "        records: people\n        total: count\n        paging: { kind: offset, sizeParameter: limit, size: 2 }\n";
const ofChanges = "        since: { parameter: since, changedAt: changed, overlapMs: 1000 }\n";

/** A service that lists people, as the CRM has them now, to whoever has its token. */
export class People {
  rows: object[] = [];
  /** What it was asked for, one query a request. */
  readonly asked: URLSearchParams[] = [];
  trouble: "none" | "down" | "cut" = "none";
  /** Its clock. */
  at = "2026-03-02T08:00:00Z";
  readonly #answer: (query: URLSearchParams) => unknown;

  constructor(answer: (rows: object[], query: URLSearchParams) => unknown) {
    this.#answer = (query) => answer(this.rows, query);
  }

  readonly listen: RequestListener = (request, response) => {
    const { searchParams: query } = new URL(request.url ?? "/", "http://people");
    if (request.headers.authorization !== "Bearer golden-token") {
      response.writeHead(401).end();
      return;
    }
    if (this.trouble === "down") {
      response.writeHead(503).end();
      return;
    }
    this.asked.push(query);
    const body = JSON.stringify(this.#answer(query));
    const headers = { "content-type": "application/json", date: new Date(this.at).toUTCString() };
    if (this.trouble === "cut") {
      response.writeHead(200, { ...headers, "content-length": body.length + 100 });
      response.write(body, () => request.socket.destroy());
    } else response.writeHead(200, headers).end(body);
  };

  /** What kind of request each one was since the last time that somebody asked. */
  kinds(): string {
    return this.asked
      .splice(0)
      .map((query) => (query.has("since") ? "changes" : "everything"))
      .join(", ");
  }
}

/** A row of an export, as the CRM writes people. */
export function personRow(person: Person): Record<string, unknown> {
  return JSON.parse(exported({ customers: [], orders: [], staff: [person] })["staff.ndjson"] ?? "");
}

function expectAsked(people: People, kinds: string): void {
  const were = people.kinds();
  if (were !== kinds) throw new Error(`asked for ${were}, not for ${kinds}`);
}

function inDatabase(life: Living, ...statements: string[]): void {
  const database = new DatabaseSync(life.path("erp.db"));
  for (const one of statements) database.exec(one);
  database.close();
}

function customersInDatabase(life: Living): void {
  const columns = "id, name, branch, address, contact, account, email, mobile, creation, mergedInto, changed";
  const row = (id: string): string =>
    `insert into customer values ('${id}', 'Firm ${id}', 'North', '${id} Street 1', 'Chief ${id}', 'chief${id}',
      '${id}@example.com', '+4915112345678', null, null, '2026-03-01T08:00:00Z')`;
  inDatabase(life, `create table customer (${columns})`, row("C1"), row("C2"));
}

export const lives: Life[] = [
  {
    name: "three-sources",
    async live(life) {
      const people = new People((rows, query) => {
        const first = Number(query.get("offset") ?? 0);
        return { count: rows.length, people: rows.slice(first, first + Number(query.get("limit"))) };
      });
      people.rows = [1, 2, 3].map((n) =>
        personRow({ id: `S${n}`, customer: n === 3 ? "C2" : "C1", holds: [["A1", "A2", "A3"][n - 1] ?? ""] }),
      );
      life.environment["PEOPLE_TOKEN"] = "golden-token";
      life.configuration.sources = `sources:\n${customersOfDatabase}${ordersOfFiles}${peopleOf(await life.serves(people.listen), inPages)}`;
      begin(life, company(0, 0));
      customersInDatabase(life);
      life.put(
        "shop/orders.csv",
        "number;customer;state;placed;total\nO1;C1;paid;01.03.2026;1.250,50\nO2;C2;open;02.03.2026;99,00\n",
      );
      life.put("shop/assets.csv", "order,id,type\nO1,A1,Cloud\nO1,A2,Cloud\nO2,A3,Cloud\n");
      life.put(
        "shop/products-1.csv",
        "order,id,parent,name,pid,seats,years\nO1,P1,A1, Office ,off-1,5,1\nO1,P2,A2,Draw,drw-1,1,2\n",
      );
      life.put("shop/products-2.csv", "order,id,parent,name,pid,seats,years\nO2,P3,A3,Office,off-1,1,1\n");
      await life.run("check");
      await life.run("run", "everything");
      await life.run("run", "everything");
      // An edit in each of the sources.
      inDatabase(life, "update customer set branch = 'South', changed = '2026-03-02T09:00:00Z' where id = 'C2'");
      life.put(
        "shop/products-2.csv",
        "order,id,parent,name,pid,seats,years\nO2,P3,A3,Office,off-1,1,1\nO2,P4,A3,Draw,drw-1,2,1\n",
      );
      people.rows = people.rows.map((row, index) => (index === 0 ? { ...row, name: "Anna New", holds: [] } : row));
      await life.run("run", "everything");
      // Each source lists something new; the HTTP service has it on a page of its own.
      inDatabase(
        life,
        "insert into customer select 'C3', 'Firm C3', branch, address, contact, account, email, mobile, creation, mergedInto, '2026-03-02T10:00:00Z' from customer where id = 'C1'",
      );
      life.put(
        "shop/orders.csv",
        "number;customer;state;placed;total\nO1;C1;paid;01.03.2026;1.250,50\nO2;C2;paid;02.03.2026;99,00\nO3;C3;open;02.03.2026;10,00\n",
      );
      life.put("shop/assets.csv", "order,id,type\nO1,A1,Cloud\nO1,A2,Cloud\nO2,A3,Cloud\nO3,A4,Key\n");
      life.put("shop/products-3.csv", "order,id,parent,name,pid,seats,years\nO3,P5,A4,Draw,drw-1,1,1\n");
      people.rows.push(personRow({ id: "S4", customer: "C1", holds: ["A1"] }), personRow({ id: "S5", customer: "C3" }));
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("explain", "order", "O2");
      await life.run("report", "orders", "--period", "2026-03");
    },
  },
  {
    name: "incremental-source",
    async live(life) {
      const crm = begin(life, company(2, 2));
      const changed = new Map(crm.staff.map(({ id }) => [id, "2026-03-02T07:00:00.000Z"]));
      let listed = crm.staff;
      crm.staff = [];
      const people = new People((rows, query) => {
        const since = query.get("since") ?? "";
        return rows.filter((row) => "changed" in row && String(row.changed) >= since);
      });
      const change = (at: string, id: string, more: Partial<Person>): void => {
        changed.set(id, at);
        people.at = at;
        listed = listed.map((person) => (person.id === id ? { ...person, ...more } : person));
        people.rows = listed.map((person) => ({ ...personRow(person), changed: changed.get(person.id) }));
      };
      change("2026-03-02T07:00:00.000Z", "", {});
      life.environment["PEOPLE_TOKEN"] = "golden-token";
      life.configuration.sources = life.configuration.sources.replace(
        / {2}hr:[^]*$/u,
        peopleOf(await life.serves(people.listen), ofChanges),
      );
      life.configuration.more = "limits: { absenceReads: 2, absenceTime: 24h }\n";
      await life.run("run", "everything");
      expectAsked(people, "everything");
      change("2026-03-02T08:15:00.000Z", "S1-1", { name: "Anna New", holds: [] });
      await life.run("run", "everything");
      expectAsked(people, "changes");
      change("2026-03-02T08:25:00.000Z", "S1-2", { holds: ["O1-A2", "O1-A1"] });
      await life.run("plan");
      await life.run("run", "everything");
      expectAsked(people, "changes, changes");
      // Who is gone is noticed by reads of everything alone, one a day.
      listed = listed.filter(({ id }) => id !== "S2-1");
      change("2026-03-02T08:45:00.000Z", "S2-2", { note: "Reception" });
      await life.run("run", "everything");
      expectAsked(people, "changes");
      for (let day = 3; day < 5; day += 1) {
        life.later(24);
        people.at = `2026-03-0${day}T09:00:00.000Z`;
        await life.run("run", "everything");
        expectAsked(people, "everything");
      }
      await life.run("run", "everything");
      await life.run("resync", "--source", "people");
      await life.run("resync", "--source", "people", "--since", "2026-03-02T08:20:00Z");
      expectAsked(people, "changes, everything, changes");
      await life.run("explain", "staff", "S2-1");
    },
  },
];
