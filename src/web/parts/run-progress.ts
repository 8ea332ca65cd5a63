import { html } from "hono/html";
import type { Progress } from "../../operate/application.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { grouped } from "../../engine/model/taking.ts";
import type { Html } from "../page.ts";
import { moment, shown } from "../shown.ts";

type Glance = NonNullable<Awaited<ReturnType<Inquiry["runGlance"]>>>;

/** How far a run is: by what it told in this process, where it is on here, and by what stands in the ledger. */
export function runProgress(
  { run, reads, operations, counted, more }: Glance,
  progress: Progress | undefined,
  when: { zone: string; now: string },
): Html {
  const states = operations.map((row) => `${grouped(row.count)} ${row.state}`).join(", ");
  const here = progress !== undefined && progress.at >= run.startedAt ? progress : undefined;
  return html`<p>
      <strong>${run.state === "running" ? "It is on" : "It has ended"}</strong>, begun ${moment(run.startedAt, when)}.
    </p>
    ${here === undefined ? "" : toldHere(here)}
    <ul>
      ${reads.map(
        (read) =>
          html`<li>
            ${shown(read.source)}, ${read.stream}: ${grouped(read.rows)} rows
            read${read.finishedAt === null ? " so far" : ""}
          </li>`,
      )}
      <li>${counted === 0 ? "no operation yet" : `${more ? "the newest operations" : "operations"}: ${states}`}</li>
    </ul>`;
}

function toldHere({ phase, done, total }: Progress): Html {
  if (total === undefined || total <= 0) return html`<p>${shown(phase)}: ${grouped(done)} so far</p>`;
  const least = Math.min(done, total);
  return html`<p>
    <label
      >${shown(phase)}: ${grouped(done)} of ${grouped(total)} <progress max="${total}" value="${least}"></progress
    ></label>
  </p>`;
}
