import { readFileSync } from "node:fs";
import { join } from "node:path";
import { project, type Life } from "../life.ts";

export const lives: Life[] = [
  {
    name: "northwind",
    async live(life) {
      life.settings["ledger.path"] = life.path("ledger.db");
      life.settings["sources.northwind.directory"] = life.path("northwind");
      life.configure(readFileSync(join(project, "config/northwind.yaml"), "utf8"));
      for (const [name, content] of Object.entries(files)) life.put(`northwind/${name}`, content);
      await life.command("run", "customers-and-orders");
      await life.command("run", "customers-and-orders");
      await life.command("run", "verify");
      for (const month of ["1996-07", "1996-08"])
        await life.command("report", "orders", "--period", month, "--date", "crm-date");
      await life.command("explain", "order", "10250");
    },
  },
];

/** Orders of July and August 1996 of the public sample, with what belongs to them, as its files have them. */
const customers = `customerID,companyName,contactName,contactTitle,address,city,region,postalCode,country,phone,fax
BERGS,Berglunds snabbköp,Christina Berglund,Order Administrator,Berguvsvägen  8,Luleå,NULL,S-958 22,Sweden,0921-12 34 65,0921-12 34 67
BLONP,Blondesddsl père et fils,Frédérique Citeaux,Marketing Manager,24, place Kléber,Strasbourg,NULL,67000,France,88.60.15.31,88.60.15.32
BSBEV,B's Beverages,Victoria Ashworth,Sales Representative,Fauntleroy Circus,London,NULL,EC2 5NT,UK,(171) 555-1212,NULL
CENTC,Centro comercial Moctezuma,Francisco Chang,Marketing Manager,Sierras de Granada 9993,México D.F.,NULL,05022,Mexico,(5) 555-3392,(5) 555-7293
CHOPS,Chop-suey Chinese,Yang Wang,Owner,Hauptstr. 29,Bern,NULL,3012,Switzerland,0452-076545,NULL
ERNSH,Ernst Handel,Roland Mendel,Sales Manager,Kirchgasse 6,Graz,NULL,8010,Austria,7675-3425,7675-3426
FOLKO,Folk och fä HB,Maria Larsson,Owner,Åkergatan 24,Bräcke,NULL,S-844 67,Sweden,0695-34 67 21,NULL
FRANK,Frankenversand,Peter Franken,Marketing Manager,Berliner Platz 43,München,NULL,80805,Germany,089-0877310,089-0877451
GROSR,GROSELLA-Restaurante,Manuel Pereira,Owner,5ª Ave. Los Palos Grandes,Caracas,DF,1081,Venezuela,(2) 283-2951,(2) 283-3397
HANAR,Hanari Carnes,Mario Pontes,Accounting Manager,Rua do Paço, 67,Rio de Janeiro,RJ,05454-876,Brazil,(21) 555-0091,(21) 555-8765
HILAA,HILARION-Abastos,Carlos Hernández,Sales Representative,Carrera 22 con Ave. Carlos Soublette #8-35,San Cristóbal,Táchira,5022,Venezuela,(5) 555-1340,(5) 555-1948
LEHMS,Lehmanns Marktstand,Renate Messner,Sales Representative,Magazinweg 7,Frankfurt a.M.,NULL,60528,Germany,069-0245984,069-0245874
LILAS,LILA-Supermercado,Carlos González,Accounting Manager,Carrera 52 con Ave. Bolívar #65-98 Llano Largo,Barquisimeto,Lara,3508,Venezuela,(9) 331-6954,(9) 331-7256
MAGAA,Magazzini Alimentari Riuniti,Giovanni Rovelli,Marketing Manager,Via Ludovico il Moro 22,Bergamo,NULL,24100,Italy,035-640230,035-640231
MORGK,Morgenstern Gesundkost,Alexander Feuer,Marketing Assistant,Heerstr. 22,Leipzig,NULL,04179,Germany,0342-023176,NULL
OTTIK,Ottilies Käseladen,Henriette Pfalzheim,Owner,Mehrheimerstr. 369,Köln,NULL,50739,Germany,0221-0644327,0221-0765721
QUEDE,Que Delícia,Bernardo Batista,Accounting Manager,Rua da Panificadora, 12,Rio de Janeiro,RJ,02389-673,Brazil,(21) 555-4252,(21) 555-4545
QUICK,QUICK-Stop,Horst Kloss,Accounting Manager,Taucherstraße 10,Cunewalde,NULL,01307,Germany,0372-035188,NULL
RATTC,Rattlesnake Canyon Grocery,Paula Wilson,Assistant Sales Representative,2817 Milton Dr.,Albuquerque,NM,87110,USA,(505) 555-5939,(505) 555-3620
REGGC,Reggiani Caseifici,Maurizio Moroni,Sales Associate,Strada Provinciale 124,Reggio Emilia,NULL,42100,Italy,0522-556721,0522-556722
RICAR,Ricardo Adocicados,Janete Limeira,Assistant Sales Agent,Av. Copacabana, 267,Rio de Janeiro,RJ,02389-890,Brazil,(21) 555-3412,NULL
RICSU,Richter Supermarkt,Michael Holz,Sales Manager,Grenzacherweg 237,Genève,NULL,1203,Switzerland,0897-034214,NULL
ROMEY,Romero y tomillo,Alejandra Camino,Accounting Manager,Gran Vía, 1,Madrid,NULL,28001,Spain,(91) 745 6200,(91) 745 6210
SPLIR,Split Rail Beer & Ale,Art Braunschweiger,Sales Manager,P.O. Box 555,Lander,WY,82520,USA,(307) 555-4680,(307) 555-6525
SUPRD,Suprêmes délices,Pascale Cartrain,Accounting Manager,Boulevard Tirou, 255,Charleroi,NULL,B-6000,Belgium,(071) 23 67 22 20,(071) 23 67 22 21
TOMSP,Toms Spezialitäten,Karin Josephs,Marketing Manager,Luisenstr. 48,Münster,NULL,44087,Germany,0251-031259,0251-035695
TORTU,Tortuga Restaurante,Miguel Angel Paolino,Owner,Avda. Azteca 123,México D.F.,NULL,05033,Mexico,(5) 555-2933,NULL
VICTE,Victuailles en stock,Mary Saveley,Sales Agent,2, rue du Commerce,Lyon,NULL,69004,France,78.32.54.86,78.32.54.87
VINET,Vins et alcools Chevalier,Paul Henriot,Accounting Manager,59 rue de l'Abbaye,Reims,NULL,51100,France,26.47.15.10,26.47.15.11
WARTH,Wartian Herkku,Pirkko Koskitalo,Accounting Manager,Torikatu 38,Oulu,NULL,90110,Finland,981-443655,981-443655
WELLI,Wellington Importadora,Paula Parente,Sales Manager,Rua do Mercado, 12,Resende,SP,08737-363,Brazil,(14) 555-8122,NULL
WHITC,White Clover Markets,Karl Jablonski,Owner,305 - 14th Ave. S. Suite 3B,Seattle,WA,98128,USA,(206) 555-4112,(206) 555-4115
`;

const orders = `orderID,customerID,employeeID,orderDate,requiredDate,shippedDate,shipVia,freight,shipName,shipAddress,shipCity,shipRegion,shipPostalCode,shipCountry
10248,VINET,5,1996-07-04 00:00:00.000,1996-08-01 00:00:00.000,1996-07-16 00:00:00.000,3,32.38,Vins et alcools Chevalier,59 rue de l'Abbaye,Reims,NULL,51100,France
10249,TOMSP,6,1996-07-05 00:00:00.000,1996-08-16 00:00:00.000,1996-07-10 00:00:00.000,1,11.61,Toms Spezialitäten,Luisenstr. 48,Münster,NULL,44087,Germany
10250,HANAR,4,1996-07-08 00:00:00.000,1996-08-05 00:00:00.000,1996-07-12 00:00:00.000,2,65.83,Hanari Carnes,Rua do Paço, 67,Rio de Janeiro,RJ,05454-876,Brazil
10251,VICTE,3,1996-07-08 00:00:00.000,1996-08-05 00:00:00.000,1996-07-15 00:00:00.000,1,41.34,Victuailles en stock,2, rue du Commerce,Lyon,NULL,69004,France
10252,SUPRD,4,1996-07-09 00:00:00.000,1996-08-06 00:00:00.000,1996-07-11 00:00:00.000,2,51.30,Suprêmes délices,Boulevard Tirou, 255,Charleroi,NULL,B-6000,Belgium
10253,HANAR,3,1996-07-10 00:00:00.000,1996-07-24 00:00:00.000,1996-07-16 00:00:00.000,2,58.17,Hanari Carnes,Rua do Paço, 67,Rio de Janeiro,RJ,05454-876,Brazil
10254,CHOPS,5,1996-07-11 00:00:00.000,1996-08-08 00:00:00.000,1996-07-23 00:00:00.000,2,22.98,Chop-suey Chinese,Hauptstr. 31,Bern,NULL,3012,Switzerland
10255,RICSU,9,1996-07-12 00:00:00.000,1996-08-09 00:00:00.000,1996-07-15 00:00:00.000,3,148.33,Richter Supermarkt,Starenweg 5,Genève,NULL,1204,Switzerland
10256,WELLI,3,1996-07-15 00:00:00.000,1996-08-12 00:00:00.000,1996-07-17 00:00:00.000,2,13.97,Wellington Importadora,Rua do Mercado, 12,Resende,SP,08737-363,Brazil
10257,HILAA,4,1996-07-16 00:00:00.000,1996-08-13 00:00:00.000,1996-07-22 00:00:00.000,3,81.91,HILARION-Abastos,Carrera 22 con Ave. Carlos Soublette #8-35,San Cristóbal,Táchira,5022,Venezuela
10258,ERNSH,1,1996-07-17 00:00:00.000,1996-08-14 00:00:00.000,1996-07-23 00:00:00.000,1,140.51,Ernst Handel,Kirchgasse 6,Graz,NULL,8010,Austria
10259,CENTC,4,1996-07-18 00:00:00.000,1996-08-15 00:00:00.000,1996-07-25 00:00:00.000,3,3.25,Centro comercial Moctezuma,Sierras de Granada 9993,México D.F.,NULL,05022,Mexico
10260,OTTIK,4,1996-07-19 00:00:00.000,1996-08-16 00:00:00.000,1996-07-29 00:00:00.000,1,55.09,Ottilies Käseladen,Mehrheimerstr. 369,Köln,NULL,50739,Germany
10261,QUEDE,4,1996-07-19 00:00:00.000,1996-08-16 00:00:00.000,1996-07-30 00:00:00.000,2,3.05,Que Delícia,Rua da Panificadora, 12,Rio de Janeiro,RJ,02389-673,Brazil
10262,RATTC,8,1996-07-22 00:00:00.000,1996-08-19 00:00:00.000,1996-07-25 00:00:00.000,3,48.29,Rattlesnake Canyon Grocery,2817 Milton Dr.,Albuquerque,NM,87110,USA
10263,ERNSH,9,1996-07-23 00:00:00.000,1996-08-20 00:00:00.000,1996-07-31 00:00:00.000,3,146.06,Ernst Handel,Kirchgasse 6,Graz,NULL,8010,Austria
10264,FOLKO,6,1996-07-24 00:00:00.000,1996-08-21 00:00:00.000,1996-08-23 00:00:00.000,3,3.67,Folk och fä HB,Åkergatan 24,Bräcke,NULL,S-844 67,Sweden
10265,BLONP,2,1996-07-25 00:00:00.000,1996-08-22 00:00:00.000,1996-08-12 00:00:00.000,1,55.28,Blondel père et fils,24, place Kléber,Strasbourg,NULL,67000,France
10266,WARTH,3,1996-07-26 00:00:00.000,1996-09-06 00:00:00.000,1996-07-31 00:00:00.000,3,25.73,Wartian Herkku,Torikatu 38,Oulu,NULL,90110,Finland
10267,FRANK,4,1996-07-29 00:00:00.000,1996-08-26 00:00:00.000,1996-08-06 00:00:00.000,1,208.58,Frankenversand,Berliner Platz 43,München,NULL,80805,Germany
10268,GROSR,8,1996-07-30 00:00:00.000,1996-08-27 00:00:00.000,1996-08-02 00:00:00.000,3,66.29,GROSELLA-Restaurante,5ª Ave. Los Palos Grandes,Caracas,DF,1081,Venezuela
10269,WHITC,5,1996-07-31 00:00:00.000,1996-08-14 00:00:00.000,1996-08-09 00:00:00.000,1,4.56,White Clover Markets,1029 - 12th Ave. S.,Seattle,WA,98124,USA
10270,WARTH,1,1996-08-01 00:00:00.000,1996-08-29 00:00:00.000,1996-08-02 00:00:00.000,1,136.54,Wartian Herkku,Torikatu 38,Oulu,NULL,90110,Finland
10271,SPLIR,6,1996-08-01 00:00:00.000,1996-08-29 00:00:00.000,1996-08-30 00:00:00.000,2,4.54,Split Rail Beer & Ale,P.O. Box 555,Lander,WY,82520,USA
10272,RATTC,6,1996-08-02 00:00:00.000,1996-08-30 00:00:00.000,1996-08-06 00:00:00.000,2,98.03,Rattlesnake Canyon Grocery,2817 Milton Dr.,Albuquerque,NM,87110,USA
10273,QUICK,3,1996-08-05 00:00:00.000,1996-09-02 00:00:00.000,1996-08-12 00:00:00.000,3,76.07,QUICK-Stop,Taucherstraße 10,Cunewalde,NULL,01307,Germany
10274,VINET,6,1996-08-06 00:00:00.000,1996-09-03 00:00:00.000,1996-08-16 00:00:00.000,1,6.01,Vins et alcools Chevalier,59 rue de l'Abbaye,Reims,NULL,51100,France
10275,MAGAA,1,1996-08-07 00:00:00.000,1996-09-04 00:00:00.000,1996-08-09 00:00:00.000,1,26.93,Magazzini Alimentari Riuniti,Via Ludovico il Moro 22,Bergamo,NULL,24100,Italy
10276,TORTU,8,1996-08-08 00:00:00.000,1996-08-22 00:00:00.000,1996-08-14 00:00:00.000,3,13.84,Tortuga Restaurante,Avda. Azteca 123,México D.F.,NULL,05033,Mexico
10277,MORGK,2,1996-08-09 00:00:00.000,1996-09-06 00:00:00.000,1996-08-13 00:00:00.000,3,125.77,Morgenstern Gesundkost,Heerstr. 22,Leipzig,NULL,04179,Germany
10278,BERGS,8,1996-08-12 00:00:00.000,1996-09-09 00:00:00.000,1996-08-16 00:00:00.000,2,92.69,Berglunds snabbköp,Berguvsvägen  8,Luleå,NULL,S-958 22,Sweden
10279,LEHMS,8,1996-08-13 00:00:00.000,1996-09-10 00:00:00.000,1996-08-16 00:00:00.000,2,25.83,Lehmanns Marktstand,Magazinweg 7,Frankfurt a.M.,NULL,60528,Germany
10280,BERGS,2,1996-08-14 00:00:00.000,1996-09-11 00:00:00.000,1996-09-12 00:00:00.000,1,8.98,Berglunds snabbköp,Berguvsvägen  8,Luleå,NULL,S-958 22,Sweden
10281,ROMEY,4,1996-08-14 00:00:00.000,1996-08-28 00:00:00.000,1996-08-21 00:00:00.000,1,2.94,Romero y tomillo,Gran Vía, 1,Madrid,NULL,28001,Spain
10282,ROMEY,4,1996-08-15 00:00:00.000,1996-09-12 00:00:00.000,1996-08-21 00:00:00.000,1,12.69,Romero y tomillo,Gran Vía, 1,Madrid,NULL,28001,Spain
10283,LILAS,3,1996-08-16 00:00:00.000,1996-09-13 00:00:00.000,1996-08-23 00:00:00.000,3,84.81,LILA-Supermercado,Carrera 52 con Ave. Bolívar #65-98 Llano Largo,Barquisimeto,Lara,3508,Venezuela
10284,LEHMS,4,1996-08-19 00:00:00.000,1996-09-16 00:00:00.000,1996-08-27 00:00:00.000,1,76.56,Lehmanns Marktstand,Magazinweg 7,Frankfurt a.M.,NULL,60528,Germany
10285,QUICK,1,1996-08-20 00:00:00.000,1996-09-17 00:00:00.000,1996-08-26 00:00:00.000,2,76.83,QUICK-Stop,Taucherstraße 10,Cunewalde,NULL,01307,Germany
10286,QUICK,8,1996-08-21 00:00:00.000,1996-09-18 00:00:00.000,1996-08-30 00:00:00.000,3,229.24,QUICK-Stop,Taucherstraße 10,Cunewalde,NULL,01307,Germany
10287,RICAR,8,1996-08-22 00:00:00.000,1996-09-19 00:00:00.000,1996-08-28 00:00:00.000,3,12.76,Ricardo Adocicados,Av. Copacabana, 267,Rio de Janeiro,RJ,02389-890,Brazil
10288,REGGC,4,1996-08-23 00:00:00.000,1996-09-20 00:00:00.000,1996-09-03 00:00:00.000,1,7.45,Reggiani Caseifici,Strada Provinciale 124,Reggio Emilia,NULL,42100,Italy
10289,BSBEV,7,1996-08-26 00:00:00.000,1996-09-23 00:00:00.000,1996-08-28 00:00:00.000,3,22.77,B's Beverages,Fauntleroy Circus,London,NULL,EC2 5NT,UK
`;

const orderDetails = `orderID,productID,unitPrice,quantity,discount
10248,11,14.00,12,0
10248,42,9.80,10,0
10248,72,34.80,5,0
10249,14,18.60,9,0
10249,51,42.40,40,0
10250,41,7.70,10,0
10250,51,42.40,35,0.15
10250,65,16.80,15,0.15
10251,22,16.80,6,0.05
10251,57,15.60,15,0.05
10251,65,16.80,20,0
10252,20,64.80,40,0.05
10252,33,2.00,25,0.05
10252,60,27.20,40,0
10253,31,10.00,20,0
10253,39,14.40,42,0
10253,49,16.00,40,0
10254,24,3.60,15,0.15
10254,55,19.20,21,0.15
10254,74,8.00,21,0
10255,2,15.20,20,0
10255,16,13.90,35,0
10255,36,15.20,25,0
10255,59,44.00,30,0
10256,53,26.20,15,0
10256,77,10.40,12,0
10257,27,35.10,25,0
10257,39,14.40,6,0
10257,77,10.40,15,0
10258,2,15.20,50,0.2
10258,5,17.00,65,0.2
10258,32,25.60,6,0.2
10259,21,8.00,10,0
10259,37,20.80,1,0
10260,41,7.70,16,0.25
10260,57,15.60,50,0
10260,62,39.40,15,0.25
10260,70,12.00,21,0.25
10261,21,8.00,20,0
10261,35,14.40,20,0
10262,5,17.00,12,0.2
10262,7,24.00,15,0
10262,56,30.40,2,0
10263,16,13.90,60,0.25
10263,24,3.60,28,0
10263,30,20.70,60,0.25
10263,74,8.00,36,0.25
10264,2,15.20,35,0
10264,41,7.70,25,0.15
10265,17,31.20,30,0
10265,70,12.00,20,0
10266,12,30.40,12,0.05
10267,40,14.70,50,0
10267,59,44.00,70,0.15
10267,76,14.40,15,0.15
10268,29,99.00,10,0
10268,72,27.80,4,0
10269,33,2.00,60,0.05
10269,72,27.80,20,0.05
10270,36,15.20,30,0
10270,43,36.80,25,0
10271,33,2.00,24,0
10272,20,64.80,6,0
10272,31,10.00,40,0
10272,72,27.80,24,0
10273,10,24.80,24,0.05
10273,31,10.00,15,0.05
10273,33,2.00,20,0
10273,40,14.70,60,0.05
10273,76,14.40,33,0.05
10274,71,17.20,20,0
10274,72,27.80,7,0
10275,24,3.60,12,0.05
10275,59,44.00,6,0.05
10276,10,24.80,15,0
10276,13,4.80,10,0
10277,28,36.40,20,0
10277,62,39.40,12,0
10278,44,15.50,16,0
10278,59,44.00,15,0
10278,63,35.10,8,0
10278,73,12.00,25,0
10279,17,31.20,15,0.25
10280,24,3.60,12,0
10280,55,19.20,20,0
10280,75,6.20,30,0
10281,19,7.30,1,0
10281,24,3.60,6,0
10281,35,14.40,4,0
10282,30,20.70,6,0
10282,57,15.60,2,0
10283,15,12.40,20,0
10283,19,7.30,18,0
10283,60,27.20,35,0
10283,72,27.80,3,0
10284,27,35.10,15,0.25
10284,44,15.50,21,0
10284,60,27.20,20,0.25
10284,67,11.20,5,0.25
10285,1,14.40,45,0.2
10285,40,14.70,40,0.2
10285,53,26.20,36,0.2
10286,35,14.40,100,0
10286,62,39.40,40,0
10287,16,13.90,40,0.15
10287,34,11.20,20,0
10287,46,9.60,15,0.15
10288,54,5.90,10,0.1
10288,68,10.00,3,0.1
10289,3,8.00,30,0
10289,64,26.60,9,0
`;

const products = `productID,productName,supplierID,categoryID,quantityPerUnit,unitPrice,unitsInStock,unitsOnOrder,reorderLevel,discontinued
1,Chai,1,1,10 boxes x 20 bags,18.00,39,0,10,0
2,Chang,1,1,24 - 12 oz bottles,19.00,17,40,25,0
3,Aniseed Syrup,1,2,12 - 550 ml bottles,10.00,13,70,25,0
5,Chef Anton's Gumbo Mix,2,2,36 boxes,21.35,0,0,0,1
7,Uncle Bob's Organic Dried Pears,3,7,12 - 1 lb pkgs.,30.00,15,0,10,0
10,Ikura,4,8,12 - 200 ml jars,31.00,31,0,0,0
11,Queso Cabrales,5,4,1 kg pkg.,21.00,22,30,30,0
12,Queso Manchego La Pastora,5,4,10 - 500 g pkgs.,38.00,86,0,0,0
13,Konbu,6,8,2 kg box,6.00,24,0,5,0
14,Tofu,6,7,40 - 100 g pkgs.,23.25,35,0,0,0
15,Genen Shouyu,6,2,24 - 250 ml bottles,15.50,39,0,5,0
16,Pavlova,7,3,32 - 500 g boxes,17.45,29,0,10,0
17,Alice Mutton,7,6,20 - 1 kg tins,39.00,0,0,0,1
19,Teatime Chocolate Biscuits,8,3,10 boxes x 12 pieces,9.20,25,0,5,0
20,Sir Rodney's Marmalade,8,3,30 gift boxes,81.00,40,0,0,0
21,Sir Rodney's Scones,8,3,24 pkgs. x 4 pieces,10.00,3,40,5,0
22,Gustaf's Knäckebröd,9,5,24 - 500 g pkgs.,21.00,104,0,25,0
24,Guaraná Fantástica,10,1,12 - 355 ml cans,4.50,20,0,0,1
27,Schoggi Schokolade,11,3,100 - 100 g pieces,43.90,49,0,30,0
28,Rössle Sauerkraut,12,7,25 - 825 g cans,45.60,26,0,0,1
29,Thüringer Rostbratwurst,12,6,50 bags x 30 sausgs.,123.79,0,0,0,1
30,Nord-Ost Matjeshering,13,8,10 - 200 g glasses,25.89,10,0,15,0
31,Gorgonzola Telino,14,4,12 - 100 g pkgs,12.50,0,70,20,0
32,Mascarpone Fabioli,14,4,24 - 200 g pkgs.,32.00,9,40,25,0
33,Geitost,15,4,500 g,2.50,112,0,20,0
34,Sasquatch Ale,16,1,24 - 12 oz bottles,14.00,111,0,15,0
35,Steeleye Stout,16,1,24 - 12 oz bottles,18.00,20,0,15,0
36,Inlagd Sill,17,8,24 - 250 g  jars,19.00,112,0,20,0
37,Gravad lax,17,8,12 - 500 g pkgs.,26.00,11,50,25,0
39,Chartreuse verte,18,1,750 cc per bottle,18.00,69,0,5,0
40,Boston Crab Meat,19,8,24 - 4 oz tins,18.40,123,0,30,0
41,Jack's New England Clam Chowder,19,8,12 - 12 oz cans,9.65,85,0,10,0
42,Singaporean Hokkien Fried Mee,20,5,32 - 1 kg pkgs.,14.00,26,0,0,1
43,Ipoh Coffee,20,1,16 - 500 g tins,46.00,17,10,25,0
44,Gula Malacca,20,2,20 - 2 kg bags,19.45,27,0,15,0
46,Spegesild,21,8,4 - 450 g glasses,12.00,95,0,0,0
49,Maxilaku,23,3,24 - 50 g pkgs.,20.00,10,60,15,0
51,Manjimup Dried Apples,24,7,50 - 300 g pkgs.,53.00,20,0,10,0
53,Perth Pasties,24,6,48 pieces,32.80,0,0,0,1
54,Tourtière,25,6,16 pies,7.45,21,0,10,0
55,Pâté chinois,25,6,24 boxes x 2 pies,24.00,115,0,20,0
56,Gnocchi di nonna Alice,26,5,24 - 250 g pkgs.,38.00,21,10,30,0
57,Ravioli Angelo,26,5,24 - 250 g pkgs.,19.50,36,0,20,0
59,Raclette Courdavault,28,4,5 kg pkg.,55.00,79,0,0,0
60,Camembert Pierrot,28,4,15 - 300 g rounds,34.00,19,0,0,0
62,Tarte au sucre,29,3,48 pies,49.30,17,0,0,0
63,Vegie-spread,7,2,15 - 625 g jars,43.90,24,0,5,0
64,Wimmers gute Semmelknödel,12,5,20 bags x 4 pieces,33.25,22,80,30,0
65,Louisiana Fiery Hot Pepper Sauce,2,2,32 - 8 oz bottles,21.05,76,0,0,0
67,Laughing Lumberjack Lager,16,1,24 - 12 oz bottles,14.00,52,0,10,0
68,Scottish Longbreads,8,3,10 boxes x 8 pieces,12.50,6,10,15,0
70,Outback Lager,7,1,24 - 355 ml bottles,15.00,15,10,30,0
71,Flotemysost,15,4,10 - 500 g pkgs.,21.50,26,0,0,0
72,Mozzarella di Giovanni,14,4,24 - 200 g pkgs.,34.80,14,0,0,0
73,Röd Kaviar,17,8,24 - 150 g jars,15.00,101,0,5,0
74,Longlife Tofu,4,7,5 kg pkg.,10.00,4,20,5,0
75,Rhönbräu Klosterbier,12,1,24 - 0.5 l bottles,7.75,125,0,25,0
76,Lakkalikööri,23,1,500 ml,18.00,57,0,20,0
77,Original Frankfurter grüne Soße,12,2,12 boxes,13.00,32,0,15,0
`;

const files: Record<string, string> = {
  "customers.csv": customers,
  "orders.csv": orders,
  "order-details.csv": orderDetails,
  "products.csv": products,
};
