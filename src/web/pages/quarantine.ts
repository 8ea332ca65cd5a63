import { html } from "hono/html";
import type { Dashboard } from "../../operate/dashboard.ts";
import { retryQuarantine, type RowBefore } from "../../requests/quarantine.ts";
import { askForRawForm } from "../../requests/private-shown.ts";
import { usage } from "../../base/errors.ts";
import { streams } from "../../crm/model.ts";
import type { QuarantineGroup } from "../../inquiry/quarantine.ts";
import { nextForQuarantine } from "../../report/next-steps.ts";
import { idOfSegment, pagePath, recordPath } from "../../report/page-links.ts";
import type { QuarantineFacts } from "../../report/facts.ts";
import { counted, recordName } from "../../report/text.ts";
import type { Retried } from "../../ingest/retry.ts";
import { may, needs } from "../access/person.ts";
import { framed, notFoundPage, type Notice } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { askedText, buttonForm } from "../parts/forms.ts";
import { moment, shown, whenOf } from "../shown.ts";
import { more, numbers, table, terms, words } from "../parts/tables.ts";

const rowsOnPage = 50;
/** Rows that one request maps again, so that the request ends in time. */
const rowsAtOnce = 500;
const place = "Quarantine";

export const quarantinePage: Page = (routes, dashboard) => {
  routes.get("/quarantine", needs("see"), async (context) => {
    const group = groupOf(context.req.query());
    return group === undefined ? await allGroups(context, dashboard) : await rowsOf(context, dashboard, group);
  });
  routes.post("/quarantine/retry", needs("decide"), async (context) => {
    const said = await context.req.parseBody();
    const group = groupOf(said);
    const { application } = dashboard;
    const chosen = { group, after: rowBefore(said), limit: rowsAtOnce };
    const notice = noticeOf(await retryQuarantine(application, chosen, context.var.person.name), true);
    return group === undefined
      ? await allGroups(context, dashboard, notice)
      : await rowsOf(context, dashboard, group, notice);
  });
  routes.get("/quarantine/:id", needs("see"), async (context) => await oneRow(context, dashboard, {}));
  routes.post("/quarantine/:id/retry", needs("decide"), async (context) => {
    const id = idOf(context);
    const found = await dashboard.read(async (inquiry) => await inquiry.quarantineById(id));
    if (found === undefined) return await noSuchRow(context);
    const retried = await retryQuarantine(dashboard.application, id, context.var.person.name);
    return await oneRow(context, dashboard, { notice: noticeOf(retried, false) });
  });
  routes.post("/quarantine/:id/raw", needs("see"), async (context) => await rawForm(context, dashboard));
};

async function rawForm(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const { person } = context.var;
  if (!person.mayAskForPrivate) return await context.var.refuse("private");
  const row = await dashboard.read(async (inquiry) => await inquiry.quarantineById(idOf(context)));
  if (row === undefined) return await noSuchRow(context);
  const raw = (await askForRawForm(dashboard, row, person.name)) ?? "erased, or kept no longer";
  return await oneRow(context, dashboard, { raw });
}

function idOf(context: PageContext): string {
  return idOfSegment(context.req.param("id") ?? "");
}

function noSuchRow(context: PageContext): Response | Promise<Response> {
  return notFoundPage(context, "There is no such row in quarantine; it may have been resolved and cleared away.");
}

/** Undefined: all groups. Throws a usage Problem for an incomplete group. */
function groupOf(said: Readonly<Record<string, unknown>>): QuarantineGroup | undefined {
  const { source, stream, code } = said;
  if (source === undefined && stream === undefined && code === undefined) return undefined;
  const known = streams.find((name) => name === stream);
  if (typeof source === "string" && known !== undefined && typeof code === "string")
    return { source, stream: known, code };
  throw usage(
    "The form names no reason of the quarantine (source, stream, code).",
    "Choose a reason on the page Quarantine.",
  );
}

function rowBefore({ since, after }: Readonly<Record<string, unknown>>): RowBefore | undefined {
  return typeof since === "string" && typeof after === "string" ? { firstSeen: since, id: after } : undefined;
}

function pathOf({ source, stream, code }: QuarantineGroup, more: Readonly<Record<string, string>> = {}): string {
  return `/quarantine?${new URLSearchParams({ source, stream, code, ...more }).toString()}`;
}

async function allGroups(context: PageContext, dashboard: Dashboard, notice?: Notice): Promise<Response> {
  const groups = await dashboard.read(async (inquiry) => await inquiry.quarantineGroups());
  const when = whenOf(dashboard);
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const rows = groups.map((group) => [
    html`<a href="${pathOf(group)}">${shown(group.code)}</a>`,
    shown(group.source),
    group.stream,
    group.count,
    moment(group.oldest, when),
  ]);
  const columns = [...words("Reason", "Source", "Stream"), ...numbers("Rows"), ...words("Oldest")];
  const body = html`<p>
      Records that cannot be used as they are wait here, and so does what depends on them. Nothing else is stopped by
      them.
    </p>
    ${table(`${counted(total, "row")} by reason, the oldest first`, columns, rows, "Nothing waits in quarantine.")}
    ${
      total > 0 && may(context.var.person, "decide")
        ? buttonForm(context, {
            action: "/quarantine/retry",
            label: total > rowsAtOnce ? `Map the first ${rowsAtOnce} anew` : "Map all of them anew",
          })
        : ""
    }`;
  return await framed(context, { title: "Quarantine", place, body, notice });
}

async function rowsOf(
  context: PageContext,
  dashboard: Dashboard,
  group: QuarantineGroup,
  notice?: Notice,
): Promise<Response> {
  const after = rowBefore(context.req.query());
  const asked = { after, limit: rowsOnPage + 1 };
  const found = await dashboard.read(async (inquiry) => await inquiry.quarantineOfGroup(group, asked));
  const rows = found.slice(0, rowsOnPage);
  const last = found.length > rowsOnPage ? rows.at(-1) : undefined;
  const when = whenOf(dashboard);
  const columns = words("Record", "Place", "Field", "Because", "Since");
  const cells = rows.map((row) => [
    html`<a href="${pagePath.quarantine(row.id)}">${shown(nameOf(row))}</a>`,
    shown(row.place),
    row.field === "" ? "the whole record" : shown(row.field),
    shown(row.message, 300),
    moment(row.firstSeen, when),
  ]);
  const title = `Quarantine: ${group.code}`;
  const { source, stream, code } = group;
  const fromHere = after === undefined ? "" : " from here on";
  const body = html`<p><a href="/quarantine">All reasons</a></p>
    ${terms([
      ["Source", shown(group.source)],
      ["Stream", group.stream],
    ])}
    ${table("Rows that wait, the oldest first", columns, cells, "No row waits for this reason any more.")}
    ${more(last && pathOf(group, { since: last.firstSeen, after: last.id }), "Later rows")}
    ${
      rows.length > 0 && may(context.var.person, "decide")
        ? buttonForm(context, {
            action: "/quarantine/retry",
            label: `Map the rows of this reason${fromHere} anew (${rowsAtOnce} at most)`,
            fields: {
              source,
              stream,
              code,
              ...(after === undefined ? {} : { since: after.firstSeen, after: after.id }),
            },
          })
        : ""
    }`;
  return await framed(context, { title, place, body, notice });
}

function nameOf({ stream, key, id }: QuarantineFacts): string {
  return key === null ? `${id} (its id could not be read)` : recordName(stream, key);
}

async function oneRow(
  context: PageContext,
  dashboard: Dashboard,
  { notice, raw }: { notice?: Notice; raw?: string },
): Promise<Response> {
  const row = await dashboard.read(async (inquiry) => await inquiry.quarantineById(idOf(context)));
  if (row === undefined) return await noSuchRow(context);
  const isWaiting = row.state !== "resolved";
  const body = html`<p><a href="${pathOf(row)}">All rows of this reason</a></p>
    ${factsOf(row, dashboard)}
    ${
      isWaiting && may(context.var.person, "decide")
        ? buttonForm(context, { action: `${pagePath.quarantine(row.id)}/retry`, label: "Map it anew" })
        : ""
    }
    <h2>What came</h2>
    ${askedText(context, { action: `${pagePath.quarantine(row.id)}/raw`, label: "Show what came", text: raw })}`;
  return await framed(context, { title: `In quarantine: ${nameOf(row)}`, place, body, notice });
}

function factsOf(row: QuarantineFacts, dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  const { key, customer, resolvedAt } = row;
  const state = { open: "waits", retry: "is mapped anew by the next run", resolved: "resolved" }[row.state];
  return terms([
    ["State", html`${state} ${resolvedAt === null ? "" : moment(resolvedAt, when)} ${shown(row.resolution ?? "")}`],
    ["Record", key === null ? undefined : html`<a href="${recordPath(row.stream, key)}">${shown(nameOf(row))}</a>`],
    [
      "Customer",
      customer === null
        ? undefined
        : html`<a href="${recordPath("customers", customer)}">${shown(recordName("customers", customer))}</a>`,
    ],
    ["Source", html`${shown(row.source)}, ${row.stream}`],
    ["Place", shown(row.place)],
    ["Field", row.field === "" ? "the whole record" : shown(row.field)],
    ["Mapping", html`<code>${shown(mappingOf(row))}</code>`],
    ["Reason", html`${shown(row.message)} (${shown(row.code)})`],
    ["Expected", row.expected === null ? undefined : shown(row.expected)],
    ["First seen", moment(row.firstSeen, when)],
    ["Last seen", moment(row.lastSeen, when)],
    ["What to do", html`<span class="cure">${shown(nextForQuarantine(row))}</span>`],
  ]);
}

function mappingOf({ source, stream, field }: QuarantineFacts): string {
  const [name = ""] = field.split(/[.[]/u);
  return ["sources", source, "streams", stream, "mapping", ...(name === "" ? [] : [name])].join(".");
}

function noticeOf(results: readonly Retried[], isMany: boolean): Notice {
  if (results.length === 0) return { kind: "failed", text: "Nothing waited any more: nothing was mapped anew." };
  const [first] = results;
  if (!isMany && first !== undefined) return { kind: first.kind === "taken-up" ? "done" : "failed", ...wordsOf(first) };
  const count = (kind: Retried["kind"]): number => results.filter((result) => result.kind === kind).length;
  const parts: [Retried["kind"], string][] = [
    ["taken-up", "usable now, the next run takes them up"],
    ["skipped", "skipped by their stream now"],
    ["still-unusable", "still not usable"],
    ["waits-for-source", "mapped anew when their source is read the next time"],
    ["left-out", "left out, because they may be other records: open a row to accept it"],
  ];
  const told = parts.filter(([kind]) => count(kind) > 0).map(([kind, words]) => `${count(kind)} ${words}`);
  const isGood = count("taken-up") + count("skipped") === results.length;
  const cure = isGood ? undefined : "correct the records in the CRM, or the mapping";
  return { kind: isGood ? "done" : "failed", text: `${counted(results.length, "row")}: ${told.join("; ")}.`, cure };
}

function wordsOf(result: Retried): { text: string; cure?: string } {
  switch (result.kind) {
    case "taken-up":
      return { text: "It is usable now; the next run takes it up." };
    case "skipped":
      return {
        text: "The settings of its stream now skip this row: it no longer waits, and its earlier record stays.",
      };
    case "still-unusable":
      return { text: `Still not usable: ${result.message}`, cure: "correct the record in the CRM, or the mapping" };
    case "waits-for-source":
      return {
        text: `Not now, because ${result.why}.`,
        cure: "nothing: it is mapped anew when its source is read the next time",
      };
    case "left-out":
      return { text: "It may be another record." };
    case "unknown":
      return { text: "It does not wait any more." };
  }
}
