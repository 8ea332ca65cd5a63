import type { Stream } from "../../crm/model.ts";

export type Names = Readonly<Record<string, readonly string[]>>;

const words = (text: string): string[] => text.trim().split(/\s+/u);

function namesOf(fields: Readonly<Record<string, string>>): Names {
  return Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, words(text)]));
}

const customerIds = `customerid customernumber customerno accountid companyid partnerid clientid kundennummer kundennr
  kundenid kdnr debitorennummer debitorennr`;

const orderIds = `orderid ordernumber orderno salesorderid auftragsnummer auftragsnr auftragsid auftrag bestellnummer
  bestellnr belegnummer belegnr`;

export const saleStates = words(
  "stage dealstage stagename orderstage salesstage opportunitystage pipelinestage phase verkaufsphase vertriebsphase",
);

const customer = namesOf({
  id: `${customerIds} accountnumber id number code key`,
  name: `companyname customername accountname legalname displayname company name firma firmenname kundenname title`,
  address: "fulladdress address postaladdress anschrift",
  street: "street addressline1 address1 strasse straße billingstreet address",
  postalCode: "postalcode postcode zip zipcode plz billingpostalcode",
  city: "city town ort stadt billingcity",
  country: "country countrycode land billingcountry",
  adminName: `contactname contactfullname primarycontactfullname primarycontactname contact contactperson adminname
    ansprechpartner`,
  adminAccount: "adminaccount adminlogin login",
  adminEmail: "adminemail contactemail email emailaddress mail",
  adminMobile: `adminmobile contactmobile mobile mobilephone cellphone cell primarycontactmobile primarycontactcell
    primarycontactphone mobil mobiltelefon handy phone telephone telefon telefonnummer tel`,
  branchCode: "branchcode branchno branchnumber branchid branch officecode regioncode",
  branchName: "branchname officename branch",
  purchaserMobile: "purchasermobile buyermobile",
  customerType: "customertype accounttype kundentyp kundenart kind type",
});

const order = namesOf({
  id: `${orderIds} contractid vertragsnummer vertragsnr id number name`,
  customerId: `${customerIds} customer account kunde`,
  placedAt: `orderdate orderedat orderedon placedat placedon datecreated createdat createdate bestelldatum auftragsdatum
    belegdatum date datum`,
  cancelled: `cancelled canceled iscancelled storniert orderstatus auftragsstatus status state ${saleStates.join(" ")}`,
  amount: "totalamount grandtotal amounttotal total amount betrag gesamtbetrag summe",
  currency: "currency currencycode currencyisocode waehrung wahrung",
});

const line = namesOf({
  id: "lineid orderlineid itemid linenumber lineno line position positionsnr pos zeile id",
  order: orderIds,
  product: `productid productcode productnumber sku articlenumber itemcode product artikelnummer artikelnr produktnummer
    produktnr artikel`,
  name: "productname itemname description articlename name bezeichnung",
  quantity: "quantity qty seats nodes licences licenses menge anzahl",
});

const staff = namesOf({
  id: `employeeid staffid personid userid employeenumber contactid personalnummer personalnr mitarbeiternummer
    mitarbeiternr mitarbeiterid id number`,
  order: `${orderIds} subscriptionid licencesubscription licensesubscription subscription`,
  customerId: `${customerIds} customer company account kunde`,
  userName: "username login account loginname userprincipalname benutzername",
  name: "fullname displayname name",
  firstName: "firstname givenname vorname",
  lastName: "lastname surname familyname nachname",
  mobile: "mobile mobilephone cellphone cell mobil handy phone telephone telefon homephone workphone",
  email: "email emailaddress mail workemail",
  remark: "remark note notes comment",
  departmentId: "departmentid",
});

export const instanceNames: Names = {
  name: [...(line["name"] ?? []), "title", "producttitle"],
  gmsPid: ["gmspid", ...(line["product"] ?? [])],
  nodes: ["nodes", ...(line["quantity"] ?? [])],
  ...namesOf({
    licenseType: "licencetype licensetype authorizationtype",
    type: "producttype type",
    limitStart: `validfrom startson startdate limitstart contractstart contractstartdate subscriptionstart start
      gultigvon gueltigvon gultigab gueltigab vertragsbeginn laufzeitbeginn beginn`,
    limitEnd: `validto validuntil endson enddate limitend contractend contractenddate subscriptionend end expirydate
      expirationdate expireson gultigbis gueltigbis vertragsende laufzeitende ablaufdatum ende`,
    timeUnit: "timeunit unit termunit",
    timeUnitQuantity: "timeunitquantity units termunits",
    term: "term timedurationexpression",
  }),
};

export const listNames = {
  customers: { fields: customer, called: words("customer account compan client partner kunde firm") },
  orders: { fields: order, called: words("order sale contract invoice subscription deal auftr bestell vertr") },
  staff: {
    fields: staff,
    called: words("staff employee user person people member contact seat mitarbeiter nutzer anwender arbeitspl"),
  },
  lines: { fields: line, called: words("line detail item position product produkt artikel article") },
} as const satisfies Record<Stream | "lines", { fields: Names; called: readonly string[] }>;

export type ListKind = keyof typeof listNames;
