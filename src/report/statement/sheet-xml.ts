import { cellText } from "./cell-text.ts";

/** The most characters that a cell of a spreadsheet holds. */
const mostCharacters = 32_767;

/** The letters of a column, from 0: A, B, …, Z, AA. */
export function columnLetters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : columnLetters(Math.floor(index / 26) - 1) + last;
}

/** A text between tags or in an attribute. */
export function xmlText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (found) => entities[found] ?? found);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * A cell that holds a text, never a formula. What is longer than a cell may be is cut and says so; `_x0041_`, which
 * spreadsheets read as an escape, is escaped itself.
 */
export function textCell(at: string, style: number, text: string): string {
  const shown = xmlText(shortened(cellText(text)).replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_"));
  return `<c r="${at}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${shown}</t></is></c>`;
}

function shortened(text: string): string {
  if (text.length <= mostCharacters) return text;
  const end = text.codePointAt(32_699) === text.charCodeAt(32_699) ? 32_700 : 32_699;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

/** A cell that holds a number, given as its digits. */
export function numberCell(at: string, style: number, digits: string | number): string {
  return `<c r="${at}" s="${style}"><v>${digits}</v></c>`;
}

/** A cell that holds a formula and the value that it has. */
export function formulaCell(at: string, style: number, formula: string, digits: string | number): string {
  return `<c r="${at}" s="${style}"><f>${xmlText(formula)}</f><v>${digits}</v></c>`;
}

export function booleanCell(at: string, style: number, value: boolean): string {
  return `<c r="${at}" s="${style}" t="b"><v>${value ? 1 : 0}</v></c>`;
}

const xmlBegin = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const documentRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelations = "http://schemas.openxmlformats.org/package/2006/relationships";

/** What stands before the rows of a sheet. Sheets are printed on A4 across, as wide as the page. */
export function sheetBegin(widths: readonly number[], frozenRows: number): string {
  const pane =
    frozenRows === 0
      ? ""
      : `<pane ySplit="${frozenRows}" topLeftCell="A${frozenRows + 1}" activePane="bottomLeft" state="frozen"/>`;
  const columns = widths.map((width, index) => {
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`;
  });
  return (
    `${xmlBegin}<worksheet xmlns="${main}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>` +
    `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>` +
    `<sheetFormatPr defaultRowHeight="15"/><cols>${columns.join("")}</cols><sheetData>`
  );
}

/** What stands behind the rows of a sheet; `filter` is the range that has the filter buttons. */
export function sheetEnd(filter?: string): string {
  return (
    `</sheetData>${filter === undefined ? "" : `<autoFilter ref="${filter}"/>`}` +
    '<pageMargins left="0.5" right="0.5" top="0.6" bottom="0.6" header="0.3" footer="0.3"/>' +
    '<pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/>' +
    "<headerFooter><oddFooter>&amp;L&amp;A&amp;R&amp;P / &amp;N</oddFooter></headerFooter></worksheet>"
  );
}

/** A sheet of the workbook: its name, its file, and its range with filter buttons under a heading. */
export interface SheetEntry {
  name: string;
  file: string;
  filter?: string;
}

/** A sheet's name as formulas have it. */
export function quotedName(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}

export function workbookXml(sheets: readonly SheetEntry[]): string {
  const list = sheets.map(({ name }, index) => {
    return `<sheet name="${xmlText(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`;
  });
  const filters = sheets.flatMap(({ name, filter }, index) => {
    if (filter === undefined) return [];
    const range = filter.replaceAll(/([A-Z]+)(\d+)/g, "$$$1$$$2");
    const value = xmlText(`${quotedName(name)}!${range}`);
    return [`<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">${value}</definedName>`];
  });
  const titles = sheets.flatMap(({ name, filter }, index) => {
    if (filter === undefined) return [];
    const value = xmlText(`${quotedName(name)}!$1:$1`);
    return [`<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${value}</definedName>`];
  });
  const names = [...filters, ...titles].join("");
  return (
    `${xmlBegin}<workbook xmlns="${main}" xmlns:r="${documentRelations}">` +
    `<bookViews><workbookView activeTab="0"/></bookViews><sheets>${list.join("")}</sheets>` +
    `${names === "" ? "" : `<definedNames>${names}</definedNames>`}</workbook>`
  );
}

export function workbookRelations(sheets: readonly SheetEntry[]): string {
  const list = sheets.map(({ file }, index) => relation(index + 1, `${documentRelations}/worksheet`, file));
  const styles = relation(sheets.length + 1, `${documentRelations}/styles`, "styles.xml");
  return `${xmlBegin}<Relationships xmlns="${packageRelations}">${list.join("")}${styles}</Relationships>`;
}

/** What the package begins with: the workbook and what is known of it. */
export function packageRelationsXml(): string {
  const core = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties";
  return (
    `${xmlBegin}<Relationships xmlns="${packageRelations}">` +
    relation(1, `${documentRelations}/officeDocument`, "xl/workbook.xml") +
    `${relation(2, core, "docProps/core.xml")}</Relationships>`
  );
}

function relation(id: number, type: string, target: string): string {
  return `<Relationship Id="rId${id}" Type="${type}" Target="${target}"/>`;
}

/** The types of the files. How many sheets there will be is not known when it is written: a file is one by default. */
export function contentTypes(): string {
  const sheetTypes = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const packageTypes = "application/vnd.openxmlformats-package";
  return (
    `${xmlBegin}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    `<Default Extension="rels" ContentType="${packageTypes}.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="${sheetTypes}.worksheet+xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${sheetTypes}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${sheetTypes}.styles+xml"/>` +
    `<Override PartName="/docProps/core.xml" ContentType="${packageTypes}.core-properties+xml"/></Types>`
  );
}

/** What a file manager shows of the workbook. `created` is the moment that it stands on, not that of its making. */
export function coreProperties(title: string, created: string | null): string {
  const date =
    created === null
      ? ""
      : `<dcterms:created xsi:type="dcterms:W3CDTF">${xmlText(created)}</dcterms:created>` +
        `<dcterms:modified xsi:type="dcterms:W3CDTF">${xmlText(created)}</dcterms:modified>`;
  return (
    `${xmlBegin}<cp:coreProperties ` +
    'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" ' +
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" ' +
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' +
    `<dc:title>${xmlText(cellText(title))}</dc:title><dc:creator>crm-sync</dc:creator>${date}</cp:coreProperties>`
  );
}
