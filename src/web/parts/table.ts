import { html } from "hono/html";
import type { Html } from "../page.ts";

/** What stands in a cell: text from outside goes through `shown` first, or is escaped as it is. */
export type Cell = Html | string | number | undefined;

export interface Column {
  title: string;
  /** Stands to the right, digit under digit. */
  number?: boolean;
}

/** Columns of words. */
export function words(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title }));
}

/** Columns of figures. */
export function numbers(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title, number: true }));
}

/**
 * A table with its caption and its headings, in a region of its own that scrolls where it is wider than the page and
 * can be reached by the keyboard. The first cell of a row names it. `wide`: on a narrow screen it keeps its width.
 */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  none = "None.",
  { wide = false }: { wide?: boolean } = {},
): Html {
  if (rows.length === 0) return html`<p class="none">${none}</p>`;
  const kind = ({ number }: Column): string => (number === true ? "number" : "text");
  return html`<div class="scroll ${wide ? "wide" : ""}" role="region" tabindex="0" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col" class="${kind(column)}">${column.title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${columns.map((column, index) =>
                index === 0
                  ? html`<th scope="row" class="${kind(column)}">${cells[index]}</th>`
                  : html`<td class="${kind(column)}">${cells[index]}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Words and what they mean, one under the other; those without a value are left out. */
export function terms(pairs: readonly (readonly [string, Cell])[]): Html {
  const known = pairs.filter(([, value]) => value !== undefined && value !== "");
  return html`<dl>
    ${known.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}
