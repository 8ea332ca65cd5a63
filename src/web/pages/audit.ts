import { html } from "hono/html";
import { z } from "zod";
import type { Dashboard } from "../../operate/dashboard.ts";
import { KeptRead } from "../../operate/long-reads.ts";
import { usage } from "../../base/errors.ts";
import type { AuditFacts, AuditHeadFacts, HeadPlaceFacts } from "../../report/facts.ts";
import { pagePath, subjectPath } from "../../report/page-links.ts";
import { needs } from "../access/person.ts";
import { framed, notFoundPage, type Notice } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { buttonForm } from "../parts/forms.ts";
import { markedJson, moment, shown, whenOf } from "../shown.ts";
import { goodOrFailing, more, numbers, table, terms, words } from "../parts/tables.ts";

const rowsOnPage = 50;
const place = "Audit";

const verdict = z.looseObject({
  good: z.boolean().nullable(),
  why: z.string().optional(),
  firstBad: z.number().optional(),
});
const verification = z.looseObject({
  good: z.boolean(),
  entries: z.int(),
  integrity: verdict,
  completeness: verdict,
  freshness: verdict,
});
type Verification = z.infer<typeof verification>;

export const auditPage: Page = (routes, dashboard) => {
  const { longReads: reads, clock } = dashboard;
  const asked = { what: "the verification of the audit log", words: ["--json", "audit", "verify"] };
  const kept = new KeptRead<Verification>({ reads, clock }, asked, ({ stdout }) =>
    verification.parse(JSON.parse(stdout)),
  );
  routes.get("/audit", needs("see"), async (context) => await record(context, dashboard, kept));
  routes.post("/audit/verify", needs("see"), async (context) => {
    kept.begin(context.var.person, dashboard.signal);
    return await record(context, dashboard, kept, { kind: "done", text: "The whole record is being verified." });
  });
  routes.get("/audit/:sequence", needs("see"), async (context) => await oneEntry(context, dashboard));
};

function numberOf(text: string): number {
  if (/^[1-9]\d{0,14}$/u.test(text)) return Number(text);
  throw usage("An entry of the audit log is named by its number.", "Choose one that the page Audit lists.");
}

async function record(
  context: PageContext,
  dashboard: Dashboard,
  kept: KeptRead<Verification>,
  notice?: Notice,
): Promise<Response> {
  const said = context.req.query("before");
  const before = said === undefined ? undefined : numberOf(said);
  const { head, places, entries } = await dashboard.read(async (inquiry) => ({
    head: await inquiry.auditHead(),
    places: await inquiry.headPlaces(),
    entries: await inquiry.auditEntries({ before, limit: rowsOnPage + 1 }),
  }));
  const rows = entries.slice(0, rowsOnPage);
  const last = entries.length > rowsOnPage ? rows.at(-1) : undefined;
  const body = html`${headPart(head, dashboard)} ${verifyPart(context, dashboard, kept)}
    ${placesPart(places, dashboard)}
    <h2>Entries</h2>
    ${entriesTable(rows, dashboard)} ${more(last && `/audit?before=${last.sequence}`, "Earlier entries")}`;
  return await framed(context, { title: "Audit", place, body, notice });
}

function headPart(head: AuditHeadFacts | undefined, dashboard: Dashboard): Html {
  if (head === undefined) return html`<p class="none">The audit log is empty.</p>`;
  return html`<h2>Head</h2>
    ${terms([
      ["Ledger", head.ledger === null ? undefined : shown(head.ledger)],
      [
        "Last entry",
        html`<a href="${pagePath.audit(head.sequence)}">${head.sequence}</a> ${moment(head.at, whenOf(dashboard))}`,
      ],
      ["Its hash", html`<code class="digest">${head.hash}</code>`],
      ["Size of the tree", head.size],
      ["Root of the tree", html`<code class="digest">${head.root}</code>`],
    ])}`;
}

function verifyPart(context: PageContext, dashboard: Dashboard, kept: KeptRead<Verification>): Html {
  const button = kept.isInProgress ? "" : buttonForm(context, { action: "/audit/verify", label: "Verify now" });
  return html`<h2>Verification</h2>
    ${verificationText(kept.state, dashboard)} ${button}`;
}

function verificationText(state: KeptRead<Verification>["state"], dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  if (state === undefined) return html`<p class="none">Nobody asked for one since this program began.</p>`;
  const { by, startedAt, ended } = state;
  const asked = html`asked for by ${shown(by)} ${moment(startedAt, when)}`;
  if (ended === undefined)
    return html`<p><span class="state wait">Running</span>, ${asked}. <a href="/audit">Look again</a></p>`;
  if ("problem" in ended)
    return html`<div class="card bad">
      <p><span class="state bad">It failed</span>, ${asked}: ${shown(ended.problem.message)}</p>
      <p class="cure">${shown(ended.problem.cure)}</p>
    </div>`;
  const { good, entries, integrity, completeness, freshness } = ended.result;
  return html`<div class="card ${good ? "good" : "bad"}">
    <p>
      <span class="state ${good ? "good" : "bad"}"
        >${good ? "Nothing is known to be wrong" : "Something is wrong"}</span
      >
      in ${entries} entries, verified ${moment(ended.at, when)}, ${asked}
    </p>
    ${terms([
      ["Integrity", verdictText(integrity, "nothing was changed")],
      ["Completeness", verdictText(completeness, "nothing that the heads outside name is missing")],
      ["Freshness", verdictText(freshness, "")],
    ])}
    ${good ? "" : html`<p class="cure">Do not change the file, and compare it with a backup.</p>`}
  </div>`;
}

function verdictText({ good, why, firstBad }: z.infer<typeof verdict>, fine: string): Html {
  const word = good === null ? "unknown" : good ? "good" : "BAD";
  const kind = good === null ? "wait" : good ? "good" : "bad";
  const at = good === false && firstBad !== undefined && firstBad > 0 ? ` at entry ${firstBad}` : "";
  return html`<span class="state ${kind}">${word}${at}</span>: ${shown(why ?? fine)}`;
}

function placesPart(places: readonly HeadPlaceFacts[], dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  const rows = places.map(({ place: name, sequence, keptAt, problem, failingSince }) => [
    shown(withoutQuery(name)),
    sequence === null ? "none" : sequence,
    moment(keptAt, when),
    goodOrFailing(problem, failingSince, when),
  ]);
  const columns = [...words("Place"), ...numbers("Entry"), ...words("Kept", "State")];
  return html`<h2>Where the head is kept outside the database</h2>
    ${table(
      "Places of the head",
      columns,
      rows,
      "Nowhere but in the file beside the ledger: `audit.heads` names places that nobody with this machine can change.",
    )}`;
}

/** A query may contain a credential. */
function withoutQuery(name: string): string {
  if (!/^https?:\/\//u.test(name) || !URL.canParse(name)) return name;
  const { protocol, host, pathname } = new URL(name);
  return `${protocol}//${host}${pathname}`;
}

function entriesTable(rows: readonly AuditFacts[], dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  const cells = rows.map(({ sequence, at, kind, subject, body }) => {
    const { by, reason } = body;
    return [
      html`<a href="${pagePath.audit(sequence)}">${sequence}</a>`,
      moment(at, when),
      kind,
      linked(subject),
      typeof by === "string" ? shown(by) : "",
      typeof reason === "string" ? shown(reason, 200) : "",
    ];
  });
  const columns = [...numbers("Entry"), ...words("At", "What", "About", "By", "Reason")];
  return table("The newest first", columns, cells, "There is no such entry.");
}

function linked(subject: string): Html {
  const path = subjectPath(subject);
  return path === undefined ? shown(subject) : html`<a href="${path}">${shown(subject)}</a>`;
}

async function oneEntry(context: PageContext, dashboard: Dashboard): Promise<Response> {
  const sequence = numberOf(context.req.param("sequence") ?? "");
  const [entry] = await dashboard.read(
    async (inquiry) => await inquiry.auditEntries({ before: sequence + 1, limit: 1 }),
  );
  if (entry?.sequence !== sequence) return await notFoundPage(context, `There is no audit entry ${sequence}.`);
  const body = html`<p><a href="/audit?before=${sequence + 1}">Entries from here on</a></p>
    ${terms([
      ["At", moment(entry.at, whenOf(dashboard))],
      ["What", entry.kind],
      ["About", linked(entry.subject)],
      ["Hash", html`<code class="digest">${entry.hash}</code>`],
    ])}
    <h2>What it says</h2>
    ${markedJson(entry.body)}`;
  return await framed(context, { title: `Audit entry ${sequence}`, place, body });
}
