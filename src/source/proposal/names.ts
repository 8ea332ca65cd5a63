import type { Stream } from "../../crm/model.ts";

/**
 * What CRMs and exports call the fields of a record, without case, blanks, signs and the dots of umlauts; the likeliest
 * first. A name that only begins or ends with one of them is a doubt.
 */
export type Names = Readonly<Record<string, readonly string[]>>;

const customer: Names = {
  id: [
    "customerid",
    "customernumber",
    "customerno",
    "accountid",
    "accountnumber",
    "companyid",
    "partnerid",
    "clientid",
    "kundennummer",
    "kundennr",
    "kundenid",
    "kdnr",
    "debitorennummer",
    "debitorennr",
    "id",
    "number",
    "code",
    "key",
  ],
  name: [
    "companyname",
    "customername",
    "accountname",
    "legalname",
    "displayname",
    "company",
    "name",
    "firma",
    "firmenname",
    "kundenname",
    "title",
  ],
  address: ["fulladdress", "address", "postaladdress", "anschrift"],
  street: ["street", "addressline1", "address1", "strasse", "straße", "billingstreet", "address"],
  postalCode: ["postalcode", "postcode", "zip", "zipcode", "plz", "billingpostalcode"],
  city: ["city", "town", "ort", "stadt", "billingcity"],
  country: ["country", "countrycode", "land", "billingcountry"],
  adminName: ["contactname", "contact", "contactperson", "adminname", "ansprechpartner"],
  adminAccount: ["adminaccount", "adminlogin", "login"],
  adminEmail: ["adminemail", "contactemail", "email", "emailaddress", "mail"],
  adminMobile: [
    "adminmobile",
    "contactmobile",
    "mobile",
    "mobilephone",
    "cellphone",
    "mobil",
    "mobiltelefon",
    "handy",
    "phone",
    "telephone",
    "telefon",
    "telefonnummer",
    "tel",
  ],
  branchCode: ["branchcode", "branchno", "branchnumber", "branchid", "branch", "officecode", "regioncode"],
  branchName: ["branchname", "officename", "branch"],
  purchaserMobile: ["purchasermobile", "buyermobile"],
  customerType: ["customertype", "accounttype", "kundentyp", "kundenart", "kind", "type"],
};

/** What tells orders apart, in their own list and in the lists of their lines and seats. */
const orderIds = [
  "orderid",
  "ordernumber",
  "orderno",
  "salesorderid",
  "auftragsnummer",
  "auftragsnr",
  "auftragsid",
  "auftrag",
  "bestellnummer",
  "bestellnr",
  "belegnummer",
  "belegnr",
] as const;

const order: Names = {
  id: [...orderIds, "contractid", "vertragsnummer", "vertragsnr", "id", "number", "name"],
  customerId: [
    "customerid",
    "customernumber",
    "customerno",
    "accountid",
    "companyid",
    "partnerid",
    "clientid",
    "kundennummer",
    "kundennr",
    "kundenid",
    "kdnr",
    "debitorennummer",
    "debitorennr",
    "customer",
    "account",
    "kunde",
  ],
  placedAt: [
    "orderdate",
    "orderedat",
    "orderedon",
    "placedat",
    "placedon",
    "datecreated",
    "createdat",
    "createdate",
    "bestelldatum",
    "auftragsdatum",
    "belegdatum",
    "date",
    "datum",
  ],
  cancelled: ["cancelled", "canceled", "iscancelled", "storniert", "status", "state", "orderstatus", "auftragsstatus"],
  amount: ["totalamount", "grandtotal", "amounttotal", "total", "amount", "betrag", "gesamtbetrag", "summe"],
  currency: ["currency", "currencycode", "currencyisocode", "waehrung", "wahrung"],
};

const line: Names = {
  id: ["lineid", "orderlineid", "itemid", "linenumber", "lineno", "position", "positionsnr", "pos", "zeile", "id"],
  order: orderIds,
  product: [
    "productid",
    "productcode",
    "productnumber",
    "sku",
    "articlenumber",
    "itemcode",
    "product",
    "artikelnummer",
    "artikelnr",
    "produktnummer",
    "produktnr",
    "artikel",
  ],
  name: ["productname", "itemname", "description", "articlename", "name", "bezeichnung"],
  quantity: ["quantity", "qty", "seats", "nodes", "licences", "licenses", "menge", "anzahl"],
};

const staff: Names = {
  id: [
    "employeeid",
    "staffid",
    "personid",
    "userid",
    "employeenumber",
    "contactid",
    "personalnummer",
    "personalnr",
    "mitarbeiternummer",
    "mitarbeiternr",
    "mitarbeiterid",
    "id",
    "number",
  ],
  order: orderIds,
  customerId: [
    "customerid",
    "customernumber",
    "accountid",
    "companyid",
    "partnerid",
    "clientid",
    "kundennummer",
    "kundennr",
    "kundenid",
    "kdnr",
    "customer",
    "company",
    "account",
    "kunde",
  ],
  userName: ["username", "login", "account", "loginname", "userprincipalname", "benutzername"],
  name: ["fullname", "displayname", "name"],
  firstName: ["firstname", "givenname", "vorname"],
  lastName: ["lastname", "surname", "familyname", "nachname"],
  mobile: ["mobile", "mobilephone", "cellphone", "mobil", "handy", "phone", "telephone", "telefon"],
  email: ["email", "emailaddress", "mail", "workemail"],
  remark: ["remark", "note", "notes", "comment"],
  departmentId: ["departmentid"],
};

/** Names of the parts of a purchase in its lines; only whole names are taken. */
export const instanceNames: Names = {
  kind: ["kind", "linekind", "recordkind"],
  id: ["instance", "instanceid", "id", "lineid"],
  parentId: ["parent", "parentid"],
  licenseType: ["licencetype", "licensetype", "authorizationtype"],
  quantity: line["quantity"] ?? [],
  assetNumbers: ["assetnumbers", "assetnumber"],
  borrowedUsbKey: ["borrowed", "borrowedusbkey"],
  number: ["number", "packagenumber"],
  parentNumber: ["parentnumber"],
  name: line["name"] ?? [],
  gmsPid: ["gmspid", ...(line["product"] ?? [])],
  appKey: ["appkey"],
  type: ["producttype", "type"],
  nodes: ["nodes", ...(line["quantity"] ?? [])],
  limitStart: ["validfrom", "startson", "startdate", "limitstart"],
  limitEnd: ["validto", "validuntil", "endson", "enddate", "limitend"],
  timeUnit: ["timeunit", "unit", "termunit"],
  timeUnitQuantity: ["timeunitquantity", "units", "termunits"],
  term: ["term", "timedurationexpression"],
  usage: ["usage", "usagehours"],
  code: ["code", "number"],
  value: ["value"],
  valueType: ["valuetype"],
};

/** Words that say what a line of an order is, where its lines are the parts of a tree. */
export const lineKinds = {
  asset: /^(?:asset|licen[cs]e|lock)s?$/iu,
  package: /^(?:package|bundle|merchandise|suite)s?$/iu,
  product: /^(?:product|item|article)s?$/iu,
  feature: /^(?:feature|option)s?$/iu,
  extension: /^(?:extension|attribute)s?$/iu,
} as const;

/** Names of what a person holds, in a list inside the row of that person. */
export const holdingNames: Names = {
  instance: ["instance", "instanceid", "asset", "assetid", "licence", "license"],
  number: ["number", "assetnumber", "assetno"],
};

/** Names of the fields of each list, and what the name of such a list has in it. */
export const listNames = {
  customers: { fields: customer, called: ["customer", "account", "compan", "client", "partner", "kunde", "firm"] },
  orders: {
    fields: order,
    called: ["order", "sale", "contract", "invoice", "subscription", "deal", "auftr", "bestell", "vertr"],
  },
  staff: {
    fields: staff,
    called: [
      "staff",
      "employee",
      "user",
      "person",
      "people",
      "member",
      "contact",
      "seat",
      "mitarbeiter",
      "nutzer",
      "anwender",
      "arbeitspl",
    ],
  },
  lines: { fields: line, called: ["line", "detail", "item", "position"] },
} as const satisfies Record<Stream | "lines", { fields: Names; called: readonly string[] }>;

export type ListKind = keyof typeof listNames;
