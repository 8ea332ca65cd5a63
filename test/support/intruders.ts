import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes as Tree } from "parse5";
import { printable } from "../../src/report/text.ts";

/** Element and attribute that stand in hostile text: where a page has one of them, text became markup. */
export const intruder = "x-intruder";

/** Text that would become markup wherever it is not escaped: in text, in an attribute of each quoting, in a title. */
export const hostileTexts = [
  `'"><${intruder} data-${intruder}=1>&`,
  `</title></script></bdi></textarea><${intruder}>`,
  `" data-${intruder}="1" onfocus="x()" autofocus="`,
  `' data-${intruder}='1`,
  `<script>${intruder}()</script>`,
  `<img src=x onerror="${intruder}()">`,
  `<svg onload=${intruder}()><style>*{}</style>`,
  `javascript:${intruder}()`,
  `//${intruder}.example.com/`,
  `data:text/html,<${intruder}>`,
  `&lt;${intruder}&gt;&#60;${intruder}&#62;`,
  `\${7*7}{{7*7}}<%= 7*7 %>`,
] as const;

const addressed = new Set(["href", "src", "action", "formaction", "poster", "xlink:href", "srcset", "data", "ping"]);
/** Where a person's own text comes back to them to be changed, it has to be as it was. */
const asTyped = new Set(["value"]);

/**
 * What a page holds that none of ours writes: elements and attributes of hostile text, scripts and styles in it,
 * addresses that lead elsewhere, and text that turns lines around or cannot be seen.
 */
export function intrusions(html: string): string[] {
  const found = new Set<string>();
  const inElement = (element: Tree.Element): void => {
    const name = element.tagName;
    if (name.includes(intruder)) found.add(`an element <${name}>`);
    if (name === "style" || name === "iframe" || name === "object" || name === "embed" || name === "base")
      found.add(`an element <${name}>`);
    const source = element.attrs.find((attribute) => attribute.name === "src")?.value;
    if (name === "script" && (source === undefined || element.childNodes.length > 0)) found.add("a script in the page");
    for (const attribute of element.attrs) {
      if (attribute.name.includes(intruder) || /^on|^style$|^srcdoc$/u.test(attribute.name))
        found.add(`an attribute ${attribute.name} of <${name}>`);
      if (addressed.has(attribute.name) && !isOwn(attribute.value))
        found.add(`an address that leads elsewhere: ${attribute.name}="${attribute.value.slice(0, 80)}"`);
      if (!asTyped.has(attribute.name)) unseen(attribute.value, `${attribute.name} of <${name}>`);
    }
  };
  const unseen = (text: string, where: string): void => {
    const plain = text.replaceAll(/[\n\r\t]/gu, " ");
    if (printable(plain) !== plain) found.add(`text that cannot be seen in ${where}: ${printable(plain).slice(0, 80)}`);
  };
  const visit = (node: Tree.Node): void => {
    if (defaultTreeAdapter.isTextNode(node)) {
      const parent = node.parentNode;
      unseen(node.value, parent !== null && "tagName" in parent ? `<${parent.tagName}>` : "the page");
    }
    if (defaultTreeAdapter.isElementNode(node)) inElement(node);
    if ("childNodes" in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return [...found];
}

/** A path of this server, a place of the page, or a way to ask it otherwise. */
function isOwn(address: string): boolean {
  return /^(?:\/(?![/\\])|#|\?|$)/u.test(address);
}

/** A form of a page, with its fields as they stand in it. */
export interface FoundForm {
  method: string;
  action: string;
  fields: Record<string, string>;
}

/** What can be followed from a page: its links, and its forms. */
export function waysOn(html: string, path: string): { links: string[]; forms: FoundForm[] } {
  const links = new Set<string>();
  const forms: FoundForm[] = [];
  const visit = (node: Tree.Node, form: FoundForm | undefined): void => {
    let within = form;
    if (defaultTreeAdapter.isElementNode(node)) {
      const of = (name: string): string | undefined => node.attrs.find((item) => item.name === name)?.value;
      const href = node.tagName === "a" ? of("href") : undefined;
      if (href?.startsWith("/") === true && isOwn(href)) links.add(href);
      if (href?.startsWith("?") === true) links.add(path.split("?")[0] + href);
      if (node.tagName === "form") {
        within = { method: (of("method") ?? "get").toUpperCase(), action: of("action") ?? path, fields: {} };
        forms.push(within);
      }
      const name = of("name");
      if (within !== undefined && name !== undefined) within.fields[name] ??= of("value") ?? "";
      if (within !== undefined && node.tagName === "option") {
        const chosen = Object.keys(within.fields).at(-1);
        if (chosen !== undefined && within.fields[chosen] === "") within.fields[chosen] = of("value") ?? "";
      }
    }
    if ("childNodes" in node) for (const child of node.childNodes) visit(child, within);
  };
  visit(parse(html), undefined);
  return { links: [...links], forms };
}
