import { html } from "hono/html";
import { scaleLinear, scaleTime } from "d3-scale";
import { grouped } from "../../engine/model/taking.ts";
import { instantText } from "../../report/text.ts";
import type { Html } from "../page.ts";

/** One line of a chart: how many at which moment (ISO instant). */
export interface Series {
  name: string;
  points: readonly { at: string; value: number }[];
}

export interface Chart {
  /** Unique in the page. */
  id: string;
  title: string;
  /** At most three: each has a colour, a dash and a mark of its own. */
  series: readonly Series[];
}

const width = 640;
const height = 200;
const left = 56;
const right = 12;
const top = 10;
const bottom = 28;
const classes = ["one", "two", "three"] as const;

/** Counts over time as lines, and the same figures as a table for who cannot see them. */
export function chart({ id, title, series }: Chart, zone: string): Html {
  const points = series.flatMap((line) => line.points);
  const moments = points.map(({ at }) => Date.parse(at));
  const along = scaleTime([Math.min(...moments), Math.max(...moments)], [left, width - right]);
  const up = scaleLinear([0, Math.max(1, ...points.map(({ value }) => value))], [height - bottom, top]).nice(4);
  const ticks = up.ticks(4).filter((tick) => Number.isInteger(tick));
  const ends = [Math.min(...moments), Math.max(...moments)];
  return html`<figure>
    <figcaption id="${id}">${title}</figcaption>
    <svg
      class="chart"
      role="img"
      aria-labelledby="${id}"
      viewBox="0 0 ${width} ${height}"
      width="${width}"
      height="${height}"
    >
      ${ticks.map((tick) => {
        const y = place(up(tick));
        return html`<line class="grid" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}" /><text
            class="tick number"
            x="${left - 6}"
            y="${y + 4}"
          >
            ${grouped(tick)}
          </text>`;
      })}
      ${ends.map(
        (at, index) =>
          html`<text class="tick ${index === 0 ? "" : "number"}" x="${place(along(at))}" y="${height - 8}">
            ${instantText(new Date(at).toISOString(), { zone }).slice(0, 16)}
          </text>`,
      )}
      ${series.map((line, index) => drawn(line, index, along, up))}
    </svg>
    <ul class="legend">
      ${series.map(
        ({ name }, index) =>
          html`<li>
            <svg aria-hidden="true" width="36" height="12" viewBox="0 0 36 12">
              <path class="line ${classes[index % classes.length]}" d="M0 6H36" />
              ${mark(index, 18, 6)}
            </svg>
            ${name}
          </li>`,
      )}
    </ul>
    ${figures(series, zone)}
  </figure>`;
}

function drawn({ points }: Series, index: number, along: (at: number) => number, up: (value: number) => number): Html {
  const places = points.map(({ at, value }) => [place(along(Date.parse(at))), place(up(value))] as const);
  return html`<path
      class="line ${classes[index % classes.length]}"
      d="${places.map(([x, y], step) => `${step === 0 ? "M" : "L"}${x} ${y}`).join("")}"
    />${places.map(([x, y]) => mark(index, x, y))}`;
}

/** A circle, a square or a triangle. */
function mark(index: number, x: number, y: number): Html {
  const named = classes[index % classes.length];
  if (named === "one") return html`<circle class="mark one" cx="${x}" cy="${y}" r="3" />`;
  if (named === "two") return html`<rect class="mark two" x="${x - 3}" y="${y - 3}" width="6" height="6" />`;
  return html`<path class="mark three" d="M${x} ${y - 4}L${x + 4} ${y + 3}H${x - 4}Z" />`;
}

function figures(series: readonly Series[], zone: string): Html {
  const moments = [...new Set(series.flatMap(({ points }) => points.map(({ at }) => at)))].sort().toReversed();
  return html`<details>
    <summary>The figures</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="The figures">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            ${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${moments.map(
            (at) =>
              html`<tr>
                <th scope="row">${instantText(at, { zone })}</th>
                ${series.map(({ points }) => {
                  const found = points.find((point) => point.at === at);
                  return html`<td class="number">${found === undefined ? "" : grouped(found.value)}</td>`;
                })}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

function place(value: number): number {
  return Math.round(value * 10) / 10;
}
