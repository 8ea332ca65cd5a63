/** A person as written, and the same name in Latin letters for an account. */
export type PersonName = readonly [name: string, latin: string];

/** Where made-up customers live: words for their names, places, people. Nobody and nothing in it is meant to exist. */
export interface Region {
  country: string;
  cities: readonly (readonly [city: string, postcode: string])[];
  streets: readonly string[];
  words: readonly string[];
  trades: readonly string[];
  forms: readonly string[];
  /** Between word and trade: nothing in scripts that are written without spaces. */
  space: string;
  people: readonly PersonName[];
}

export const regions: readonly Region[] = [
  {
    country: "Germany",
    cities: [
      ["Musterstadt", "00101"],
      ["Neu Beispiel", "00214"],
      ["Groß Probe", "00377"],
    ],
    streets: ["Ahornstraße 12", "Am Mühlgraben 3a", "Lindenallee 101", "Hinter dem Wehr 7"],
    words: ["Müller, Söhne &", "Brückner", "Jäger + Groß", 'Büro "Nord"', "Weißbach", "Königsfeld"],
    trades: ["Maschinenbau", "Ingenieure", "Planung", "Vermessung"],
    forms: ["GmbH", "KG", "GmbH & Co. KG"],
    space: " ",
    people: [
      ["Anna Möller", "amoeller"],
      ["Jürgen Groß", "jgross"],
      ["Sören Weiß", "sweiss"],
      ["Heike Böhm", "hboehm"],
      ["Ole Krüger", "okrueger"],
    ],
  },
  {
    country: "France",
    cities: [
      ["Exempleville", "00120"],
      ["Saint-Modèle", "00480"],
    ],
    streets: ["8, rue de l'Éclair", "24, place du Modèle", "3 bis, allée des Érables"],
    words: ["Société d'Énergie", "Bureau Éclair", "Atelier Lumière,", "Forêt & Frères,"],
    trades: ["Études", "Conseil", "Bâtiment", "Ingénierie"],
    forms: ["SARL", "S.A.", "SAS"],
    space: " ",
    people: [
      ["Zoé Lefèvre", "zlefevre"],
      ["Noël d'Arçon", "ndarcon"],
      ["Chloé Bérard", "cberard"],
      ["Loïc Hélène", "lhelene"],
    ],
  },
  {
    country: "Poland",
    cities: [
      ["Przykładów", "00-101"],
      ["Wzorowo", "00-250"],
    ],
    streets: ["ul. Świętego Jana 5", "ul. Łąkowa 18", "al. Zwycięstwa 9/2"],
    words: ["Źródło", "Łódka", "Żuraw i Synowie,", "Śnieżka"],
    trades: ["Projekty", "Narzędzia", "Konstrukcje"],
    forms: ["Sp. z o.o.", "S.A."],
    space: " ",
    people: [
      ["Małgorzata Wójcik", "mwojcik"],
      ["Łukasz Źrebiec", "lzrebiec"],
      ["Żaneta Świt", "zswit"],
      ["Paweł Gęś", "pges"],
    ],
  },
  {
    country: "Denmark",
    cities: [
      ["Eksempelby", "0010"],
      ["Nørre Prøve", "0042"],
    ],
    streets: ["Ågade 4", "Søndre Ringvej 77", "Bækvej 1, 2. th."],
    words: ["Ærø", "Øster Bro", "Blåbjerg"],
    trades: ["Værktøj", "Byggeri", "Rådgivning"],
    forms: ["ApS", "A/S"],
    space: " ",
    people: [
      ["Søren Åberg", "saaberg"],
      ["Mette Bæk", "mbaek"],
      ["Jørgen Østergård", "joestergaard"],
    ],
  },
  {
    country: "Czechia",
    cities: [
      ["Vzorov", "000 10"],
      ["Příkladná Lhota", "000 25"],
    ],
    streets: ["Na Příkopě 11", "U Řeky 6", "Žižkova 40"],
    words: ["Říčka", "Děčan a syn,", "Šťastný dům"],
    trades: ["Stavby", "Nářadí", "Výpočty"],
    forms: ["s.r.o.", "a.s."],
    space: " ",
    people: [
      ["Jiří Dvořáček", "jdvoracek"],
      ["Věra Šípková", "vsipkova"],
      ["Ondřej Říha", "oriha"],
    ],
  },
  {
    country: "Türkiye",
    cities: [
      ["Örnekköy", "00110"],
      ["Yeni Deneme", "00340"],
    ],
    streets: ["Çınar Sokak 9", "İnönü Caddesi 120", "Gül Sokağı 3/5"],
    words: ["Işık", "Çağdaş", "Gökyüzü"],
    trades: ["Mühendislik", "İnşaat", "Yazılım"],
    forms: ["A.Ş.", "Ltd. Şti."],
    space: " ",
    people: [
      ["Ayşe Yıldız", "ayildiz"],
      ["Özgür Çelik", "ocelik"],
      ["İrem Şahin", "isahin"],
    ],
  },
  {
    country: "Japan",
    cities: [
      ["見本市", "000-0010"],
      ["例町", "000-0042"],
    ],
    streets: ["青葉1-2-3", "桜通り4丁目5-6", "緑ヶ丘7-8"],
    words: ["青空", "みどり", "サクラ", "北斗"],
    trades: ["設計", "建設", "ソフト", "測量"],
    forms: ["株式会社", "合同会社"],
    space: "",
    people: [
      ["佐藤 花子", "hsato"],
      ["鈴木 一郎", "isuzuki"],
      ["高橋 みどり", "mtakahashi"],
      ["伊藤 健", "kito"],
    ],
  },
  {
    country: "China",
    cities: [
      ["示例市", "000100"],
      ["样本县", "000420"],
    ],
    streets: ["长青路12号", "和平大街88号", "桂花巷3号"],
    words: ["晨光", "远山", "明月", "东方"],
    trades: ["软件", "工程咨询", "建筑设计", "测绘"],
    forms: ["有限公司", "股份有限公司"],
    space: "",
    people: [
      ["王小明", "wangxm"],
      ["李晓红", "lixh"],
      ["赵大海", "zhaodh"],
      ["陈静", "chenj"],
    ],
  },
  {
    country: "Vietnam",
    cities: [
      ["Thành phố Mẫu", "000010"],
      ["Thị trấn Ví Dụ", "000150"],
    ],
    streets: ["15 đường Hoa Sen", "7 phố Cây Bàng", "102 đường Bờ Sông"],
    words: ["Ánh Dương", "Sông Xanh", "Đại Nam"],
    trades: ["Xây dựng", "Phần mềm", "Tư vấn"],
    forms: ["TNHH", "JSC"],
    space: " ",
    people: [
      ["Nguyễn Thị Mẫu", "nguyentm"],
      ["Trần Văn Ví", "tranvv"],
      ["Lê Đức Dụ", "leducdu"],
    ],
  },
];
