import { cellText } from "./cell-text.ts";

const maxCharacters = 32_767;

/** The styles of cells, by their place in `stylesXml`. */
export const styles = { plain: 0, heading: 1, text: 2, integer: 3, date: 4, instant: 5 } as const;

/** The style of amounts with that many decimals. */
export function moneyStyle(decimals: number): number {
  return 6 + decimals;
}

export type SheetCell =
  | { style: number; text: string }
  | { style: number; number: string | number | bigint }
  | { style: number; boolean: boolean };

export function rowXml(row: number, cells: readonly (SheetCell | undefined)[]): string {
  let xml = `<row r="${row}">`;
  cells.forEach((cell, column) => {
    if (cell !== undefined) xml += `<c r="${columnLetters(column)}${row}" s="${cell.style}" ${contentXml(cell)}</c>`;
  });
  return `${xml}</row>`;
}

function contentXml(cell: SheetCell): string {
  if ("number" in cell) return `><v>${cell.number}</v>`;
  if ("boolean" in cell) return `t="b"><v>${cell.boolean ? 1 : 0}</v>`;
  // A text is never a formula. Spreadsheets read `_x0041_` as an escape, so it is escaped itself.
  const text = xmlText(shortened(cellText(cell.text)).replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_"));
  return `t="inlineStr"><is><t xml:space="preserve">${text}</t></is>`;
}

function shortened(text: string): string {
  if (text.length <= maxCharacters) return text;
  const end = text.codePointAt(32_699) === text.charCodeAt(32_699) ? 32_700 : 32_699;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

const columns: string[] = [];

/** The letters of a column, from 0: A, B, …, Z, AA. */
export function columnLetters(column: number): string {
  return (columns[column] ??=
    (column < 26 ? "" : columnLetters(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26)));
}

function xmlText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (found) => entities[found] ?? found);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const begin = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const documentRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelations = "http://schemas.openxmlformats.org/package/2006/relationships";

/** What comes before the rows of a sheet. Sheets are printed on A4 across, as wide as the page. */
export function sheetBegin(widths: readonly number[], frozenRows: 0 | 1): string {
  const pane = frozenRows === 0 ? "" : '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const cols = widths.map((width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`);
  return (
    `${begin}<worksheet xmlns="${main}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>` +
    `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews><cols>${cols.join("")}</cols><sheetData>`
  );
}

/** What comes after the rows of a sheet; `filter` is the range that has the filter buttons. */
export function sheetEnd(filter?: string): string {
  const buttons = filter === undefined ? "" : `<autoFilter ref="${filter}"/>`;
  return `</sheetData>${buttons}<pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/></worksheet>`;
}

/** The files of the workbook beside its sheets. A file is a sheet unless the types say otherwise. */
export function workbookFiles(sheets: readonly { name: string; file: string }[]): [path: string, xml: string][] {
  const types = "application/vnd.openxmlformats-";
  const list = sheets.map(({ name }, at) => `<sheet name="${xmlText(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`);
  const relations = sheets.map(({ file }, at) => relation(at + 1, "worksheet", file));
  return [
    [
      "[Content_Types].xml",
      `${begin}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
        `<Default Extension="rels" ContentType="${types}package.relationships+xml"/>` +
        `<Default Extension="xml" ContentType="${types}officedocument.spreadsheetml.worksheet+xml"/>` +
        `<Override PartName="/xl/workbook.xml" ContentType="${types}officedocument.spreadsheetml.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${types}officedocument.spreadsheetml.styles+xml"/></Types>`,
    ],
    ["_rels/.rels", relationsXml([relation(1, "officeDocument", "xl/workbook.xml")])],
    ["xl/styles.xml", stylesXml()],
    [
      "xl/workbook.xml",
      `${begin}<workbook xmlns="${main}" xmlns:r="${documentRelations}"><sheets>${list.join("")}</sheets></workbook>`,
    ],
    ["xl/_rels/workbook.xml.rels", relationsXml([...relations, relation(sheets.length + 1, "styles", "styles.xml")])],
  ];
}

function relation(id: number, type: string, target: string): string {
  return `<Relationship Id="rId${id}" Type="${documentRelations}/${type}" Target="${target}"/>`;
}

function relationsXml(relations: readonly string[]): string {
  return `${begin}<Relationships xmlns="${packageRelations}">${relations.join("")}</Relationships>`;
}

/** Number formats; those from 164 on are the workbook's own. */
const ownFormats = ["yyyy\\-mm\\-dd", "yyyy\\-mm\\-dd\\ hh:mm:ss.000", "#,##0.0", "#,##0.000", "#,##0.0000"];
const moneyFormats = [3, 166, 4, 167, 168];

function stylesXml(): string {
  const formats = ownFormats.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`);
  // General, heading, text, integer, date, instant, then amounts by their decimals.
  const cells = [0, 49, 49, 3, 164, 165, ...moneyFormats].map(
    (format, at) =>
      `<xf numFmtId="${format}" fontId="${at === styles.heading ? 1 : 0}" fillId="0" borderId="0" xfId="0" ` +
      'applyNumberFormat="1" applyFont="1"/>',
  );
  const font = '<sz val="11"/><name val="Calibri"/>';
  return (
    `${begin}<styleSheet xmlns="${main}"><numFmts count="${formats.length}">${formats.join("")}</numFmts>` +
    `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>' +
    '</fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${cells.length}">${cells.join("")}</cellXfs></styleSheet>`
  );
}
