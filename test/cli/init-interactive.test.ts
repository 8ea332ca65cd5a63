import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createOutput } from "../../src/cli/output.ts";
import { carryOut } from "../../src/cli/program.ts";
import { startWebServer } from "../../src/web/server.ts";
import { startServer } from "../support/http-server.ts";
import { crmSync } from "../support/program.ts";
import { folder as newFolder } from "../support/world/start.ts";

const customers =
  "CustomerID,CompanyName,Address,Contact,Email,Mobile\n" +
  "A1,Alpha GmbH,Road 1 Bonn,Ann,ann@example.com,+4915100000001\nB2,Beta AG,Road 2 Koeln,Bob,bob@example.com,+4915100000002\n";
const orders = "OrderID,CustomerID,OrderDate,Total\n70,A1,2026-07-01,10.00\n71,B2,2026-08-01,20.00\n";
const staff = "EmployeeID,CustomerID,FirstName,LastName,Email\n1,A1,Cy,Dee,cy@example.com\n";

/** What is typed when a question comes up; `^C`: the key. */
type Typed = readonly (readonly [question: string, answer: string])[];

/**
 * A person at a terminal without columns, who answers what comes up in this order, leaves open what the contracts do,
 * and leaves with the first other question.
 */
async function typing(
  place: string,
  answers: Typed,
  environment: Record<string, string> = {},
): Promise<{ exitCode: number; shown: string; printed: string; left: Typed }> {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true });
  const left = [...answers];
  let shown = "";
  let seen = 0;
  let printed = "";
  const screen = {
    isTTY: true,
    columns: 0,
    write: (text: string | Buffer, done?: () => void) => {
      shown += String(text);
      // The mark of a prompt: every question has come up by then. Where it is another one, the person leaves.
      if (String(text).includes("> ") && shown.length > seen) {
        const [question, answer] = left[0] ?? ["", "^C"];
        const isIt = shown.slice(seen).includes(question);
        const isLeftOpen = !isIt && /\(A\d+\): /u.test(shown.slice(seen));
        seen = shown.length;
        if (isIt) left.shift();
        setImmediate(() => keyboard.write(isLeftOpen ? "\r" : !isIt || answer === "^C" ? "\u0003" : `${answer}\r`));
      }
      done?.();
      return true;
    },
  };
  const output = createOutput(
    { write: (text, done) => ((printed += String(text)), done?.(), true) },
    screen,
    () => performance.now(),
    { log: { write: () => undefined } },
  );
  const stop = new AbortController();
  const exitCode = await carryOut(["--config", join(place, "crm-sync.yaml"), "init", "--interactive"], {
    environment: { ...process.env, ...environment },
    output,
    signal: stop.signal,
    startWeb: startWebServer,
    keyboard,
  });
  return { exitCode, shown, printed, left };
}

function lists(): { place: string; list: (name: string) => string } {
  const place = newFolder();
  const exports = join(place, "exports");
  mkdirSync(exports);
  writeFileSync(join(exports, "customers.csv"), customers);
  writeFileSync(join(exports, "orders.csv"), orders);
  writeFileSync(join(exports, "staff.csv"), staff);
  return { place, list: (name) => join(exports, name) };
}

/** Everything that one run through the sandbox asks. */
function wholeWay(list: (name: string) => string): [string, string][] {
  return [
    ["Time zone", "Europe/Berlin"],
    ["A list of the CRM", list("customers.csv")],
    ["Another list", list("orders.csv")],
    ["Another list", list("staff.csv")],
    ["Another list", ""],
    ["customers.customerType", ""],
    ["customers.branchCode", "=B7"],
    ["customers.branchName", ""],
    ["customers.adminAccount", "Email"],
    ["customers.purchaserMobile", ""],
    ["orders.placedAt", ""],
    ["orders.amount", ""],
    ["orders.instances", ""],
    ["staff.userName", ""],
    ["staff.assets", ""],
    ["Which services", ""],
    ["How are you told", "log"],
    ["seals the passwords", ""],
    ["Id of a customer", "A1"],
    ["Write ", "yes"],
  ];
}

describe("init --interactive", () => {
  it(
    "leads from lists to a checked configuration and the plan of a customer, on a terminal without columns",
    { tags: "long" },
    async () => {
      const { place, list } = lists();
      const { exitCode, shown, printed, left } = await typing(place, wholeWay(list));
      expect(left).toEqual([]);
      expect(exitCode, shown + printed).toBe(0);
      expect(printed).toContain("good  source files, customers: all 2 rows were read, and all can be used");
      expect(printed).toContain("customer crm/A1\n  + E2 ");
      expect(printed).not.toContain("crm/B2");
      expect(printed).toMatch(/Next:\n {2}crm-sync .* --sandbox map files customers/u);
      const text = readFileSync(join(place, "crm-sync.yaml"), "utf8");
      expect(text).toContain("zone: Europe/Berlin");
      expect(text).toMatch(/branchCode:\n\s+value: B7/u);
      expect(text).toMatch(/adminAccount:\n\s+lower: Email/u);
      expect(text).not.toContain("DOUBT:");
      expect(statSync(join(place, "crm-sync.yaml")).mode & 0o777).toBe(0o600);
      const key = join(place, "secrets", "seal-key");
      expect(statSync(key).mode & 0o777).toBe(0o600);
      expect(statSync(join(place, "secrets")).mode & 0o777).toBe(0o700);
      expect(text).toContain(`sealKey: file:${key}`);
      expect(text + shown + printed).not.toContain(readFileSync(key, "utf8"));
      // Values of the rows are nobody's business here, but for the id.
      expect(shown + printed).not.toMatch(/Alpha|ann@example|Road 1/u);
    },
  );

  it("leaves nothing behind where Ctrl-C comes, at whichever question", { tags: "long" }, async () => {
    for (let at = 0; at < wholeWay((name) => name).length; at += 1) {
      const { place, list } = lists();
      const answers = wholeWay(list);
      const [question = ""] = answers[at] ?? [];
      const { exitCode, shown, left } = await typing(place, [...answers.slice(0, at), [question, "^C"]]);
      expect(left, question).toEqual([]);
      expect(exitCode, question).toBe(1);
      expect(shown).toContain("nothing was written");
      expect(readdirSync(place), question).toEqual(["exports"]);
    }
  });

  it("names a list that is not there, is empty, is down or wants another token, and asks for it again", async () => {
    const { place, list } = lists();
    writeFileSync(list("empty-customers.csv"), "");
    writeFileSync(list("header-customers.csv"), "CustomerID,CompanyName\n");
    writeFileSync(list("bad-customers.json"), '{"a": [');
    const url = await startServer(({ headers }, response) => {
      if (headers.authorization !== "Bearer right") response.writeHead(401).end();
      else response.end(JSON.stringify([{ customerId: "A1", companyName: "Alpha" }]));
    });
    const again = "A list of the CRM";
    const { exitCode, shown, left } = await typing(place, [
      ["Time zone", "Europe/Nowhere"],
      ["there is no time zone", "UTC"],
      [again, list("nothing.csv")],
      ["there is no file", list("empty-customers.csv")],
      [again, list("header-customers.csv")],
      ["holds no row", list("bad-customers.json")],
      ["is no JSON", `http://127.0.0.1:1/customers`],
      ["How does that address", "none"],
      ["cannot be read", `${url}/customers`],
      ["How does that address", "bearer"],
      ["Bearer token", "plainly-a-token"],
      ["is no reference", "type"],
      ["Bearer token", "wrong"],
      ["see that the token is right", `${url}/customers`],
      ["How does that address", "bearer"],
      ["Bearer token", "type"],
      ["Bearer token", "right"],
      ["Another list", "^C"],
    ]);
    expect(left).toEqual([]);
    expect(exitCode).toBe(1);
    expect(shown).toContain("1 rows were looked at");
    // What is typed as a secret is not shown.
    expect(shown).not.toContain("> right");
    expect(shown).not.toContain("wrong\r");
    expect(readdirSync(place)).toEqual(["exports"]);
  });

  it("asks for the real services and what the contracts leave open, and keeps typed secrets in files of their own", async () => {
    const { place, list } = lists();
    const { exitCode, shown, printed, left } = await typing(
      place,
      [
        ["Time zone", "UTC"],
        ["A list of the CRM", list("customers.csv")],
        ["Another list", ""],
        ["customers.customerType", ""],
        ["customers.branchCode", ""],
        ["customers.branchName", ""],
        ["customers.adminAccount", ""],
        ["customers.purchaserMobile", ""],
        ["Which services", "production"],
        ["Address of the order service", "http://orders.example.com"],
        ["has to begin with https", "http://127.0.0.1:1"],
        ["Application key", "0012"],
        ["member-center", "http://127.0.0.1:1"],
        ["token endpoint", "http://127.0.0.1:1/token"],
        ["(auth_order)", "type"],
        ["(auth_order)", "zqorder"],
        ["(auth_me)", "env:MEMBER_SECRET"],
        ["Account that may", "crm-sync"],
        ["Its password", "env:USER_PASSWORD"],
        ["channelCode (A9)", "0042"],
        ["timeUnits", "{ YEAR: decade }"],
        ["timeUnits takes", "{ YEAR: year, NONE: none }"],
        ["How are you told", "webhook"],
        ["posted to", "https://alerts.example.com/x"],
        ["bearer token?", "no"],
        ["Id of a customer", ""],
        ["Write ", ""],
      ].map(([question = "", answer = ""]) => [question, answer] as const),
      { MEMBER_SECRET: "m", USER_PASSWORD: "p" },
    );
    expect(left, shown).toEqual([]);
    // The services are not there: check says so, and no plan is made.
    expect(exitCode, printed).not.toBe(0);
    expect(printed).toContain("BAD ");
    const text = readFileSync(join(place, "crm-sync.yaml"), "utf8");
    expect(text).toContain('appKey: "0012"');
    expect(text).toContain('channelCode: "0042"');
    expect(text).toContain(`clientSecret: file:${join(place, "secrets", "order-secret")}`);
    expect(text + shown + printed).not.toContain("zqorder");
    expect(readFileSync(join(place, "secrets", "order-secret"), "utf8")).toBe("zqorder");
  });

  it("touches a file that is there only where the person says so, and in the end", async () => {
    const { place, list } = lists();
    const path = join(place, "crm-sync.yaml");
    writeFileSync(path, "mine: 1\n");
    const refused = await typing(place, [["Replace it", ""]]);
    expect(refused.exitCode).toBe(64);
    const left = await typing(place, [
      ["Replace it", "yes"],
      ["Time zone", "^C"],
    ]);
    expect(left.exitCode).toBe(1);
    expect(readFileSync(path, "utf8")).toBe("mine: 1\n");
    const replaced = await typing(place, [["Replace it", "y"], ...wholeWay(list)]);
    expect(replaced.exitCode, replaced.shown).toBe(0);
    expect(readFileSync(path, "utf8")).toContain("zone: Europe/Berlin");
  });
});

describe("init --answers", () => {
  it("takes the answers from a file, without a terminal", { tags: "long" }, async () => {
    const { place, list } = lists();
    const config = join(place, "crm-sync.yaml");
    const answers = join(place, "answers.yaml");
    writeFileSync(
      answers,
      `zone: UTC\nlists: ["${list("customers.csv")}", "${list("orders.csv")}"]\ncustomers.branchCode: =0012\n`,
    );
    const ended = await crmSync({ config }, "init", "--answers", answers);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(readFileSync(config, "utf8")).toMatch(/branchCode:\n\s+value: "0012"/u);
    expect(ended.stdout).toContain("customer crm/A1");
  });

  it.each([
    ["lists: [exports/nothing.csv]", "there is no file exports/nothing.csv"],
    ["zone: Nowhere", "there is no time zone Nowhere"],
    ["zone: UTC", "does not answer lists"],
    ["lists: [LIST]\nbranch: B1", "answers branch, which was not asked"],
    ["lists: [LIST]\ncustomers.address: Town", "answers customers.address, which was not asked"],
    ["lists: [LIST]\nservices: elsewhere", "write sandbox or production"],
    ["- a", "holds no answers"],
  ])("ends with a usage error and writes nothing where the file says %s", async (text, said) => {
    const { place, list } = lists();
    const config = join(place, "crm-sync.yaml");
    const answers = join(place, "answers.yaml");
    writeFileSync(answers, text.replace("LIST", list("customers.csv")));
    const ended = await crmSync({ config }, "init", "--answers", answers);
    expect(ended.exitCode).toBe(64);
    expect(ended.stderr).toContain(said);
    expect(existsSync(config)).toBe(false);
  });

  it("says without a terminal how it is done there", async () => {
    const ended = await crmSync({ config: join(newFolder(), "crm-sync.yaml") }, "init", "--interactive");
    expect(ended.exitCode).toBe(64);
    expect(ended.stderr).toContain("init --from");
  });
});
