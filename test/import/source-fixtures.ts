/** Small files after the form of each source that has a description, and the stations that they hold. */
export interface Fixture {
  files: Record<string, string>;
  /** id, latitude, longitude, brand, address, grades sold, opening hours. */
  stations: readonly string[];
  reasons: Record<string, number>;
}

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const italy = (separator: string): Fixture => ({
  files: {
    "register.csv": [
      "Estrazione del 2026-08-21",
      "idImpianto|Gestore|Bandiera|Tipo Impianto|Nome Impianto|Indirizzo|Comune|Provincia|Latitudine|Longitudine",
      '7|ROSSI S.R.L.|Q8|Stradale|Q8 "NORD"|VIA ROMA 5|TORINO|TO|45.07|7.68',
      "8|BIANCHI SNC|Pompe Bianche|Stradale|STAZIONE SUD|VIA PO 1|TORINO|TO|45.08|7.69",
      "9|VERDI SNC|Eni|Stradale|SOLO GAS|VIA PO 2|TORINO|TO|45.09|7.7",
      "10|NERI SNC|Eni|Stradale|SENZA PREZZI|VIA PO 3|TORINO|TO|45.1|7.71",
      "11|GIALLI SNC|Eni|Stradale|NESSUN LUOGO|VIA PO 4|TORINO|TO||",
    ]
      .join("\n")
      .replaceAll("|", separator),
    "prices.csv": [
      "Estrazione del 2026-08-21",
      "idImpianto|descCarburante|prezzo|isSelf|dtComu",
      "7|Benzina|1.899|1|20/08/2026 12:02:14",
      "7|Benzina|2.049|0|20/08/2026 12:02:14",
      "7|Blue Diesel|1.799|1|20/08/2026 12:02:14",
      "8|Metano|1.4|0|20/08/2026 12:02:14",
      "8|Gasolio|1.7|1|20/08/2026 12:02:14",
      "9|GPL|0.7|0|20/08/2026 12:02:14",
    ]
      .join("\n")
      .replaceAll("|", separator),
  },
  stations: [
    "it-mimit-7 45.07 7.68 Q8 | VIA ROMA 5, TORINO | 95,ДТ |",
    "it-mimit-8 45.08 7.69  | VIA PO 1, TORINO | ДТ |",
    "it-mimit-10 45.1 7.71 Eni | VIA PO 3, TORINO | ? |",
  ],
  reasons: { "no-position": 1, "lpg-only": 1 },
});

export const fixtures: Readonly<Record<string, Fixture>> = {
  "it-mimit": italy("|"),
  "it-mimit, as it was until 2025": italy(";"),
  "fr-prix-carburants": {
    files: {
      "PrixCarburants_instantane.xml": `<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<pdv_liste>
  <pdv id="1000001" latitude="4620114" longitude="519791" cp="01000" pop="R">
    <adresse>596 AVENUE DE TREVOUX</adresse>
    <ville>Saint-Denis-lès-Bourg</ville>
    <horaires automate-24-24="1"><jour id="1" nom="Lundi" ferme=""/></horaires>
    <prix nom="Gazole" id="1" maj="2026-11-25 17:12:03" valeur="1.626"/>
    <prix nom="E10" id="5" maj="2026-11-25 17:12:03" valeur="1.598"/>
    <rupture nom="SP98" id="6" debut="2017-09-16 09:50:23" fin="" type="definitive"/>
  </pdv>
  <pdv id="1000002" latitude="4621842" longitude="522767" cp="01000" pop="R">
    <adresse>16 Avenue de Marboz</adresse>
    <ville>BOURG-EN-BRESSE</ville>
    <horaires automate-24-24=""/>
    <prix nom="GPLc" id="4" maj="2026-11-25 17:12:03" valeur="0.998"/>
  </pdv>
</pdv_liste>
`,
    },
    stations: [
      "fr-1000001 46.20114 5.19791  | 596 AVENUE DE TREVOUX, Saint-Denis-lès-Bourg | 95,ДТ | 24/7",
    ],
    reasons: { "lpg-only": 1 },
  },
  "fr-prix-carburants-csv": {
    files: {
      "stations.csv":
        "id,latitude,longitude,cp,pop,adresse,ville\n7,46.2,5.2,01000,R,1 rue A,BOURG\n8,,,01000,R,2 rue A,BOURG\n",
      "prix.csv": "id,nom,maj,valeur,station_id\n1,Gazole,2022-10-11T17:12:03,1.926,7\n",
      "ruptures.csv": "id,nom,debut,fin,station_id\n3,E10,2022-10-11T09:50:23,,7\n",
    },
    stations: ["fr-7 46.2 5.2  | 1 rue A, BOURG | ? |"],
    reasons: { "no-position": 1 },
  },
  "de-tankerkoenig": {
    files: {
      "stations.csv":
        "uuid,name,brand,street,house_number,post_code,city,latitude,longitude,first_active,openingtimes_json\n" +
        "0e18d0d3-ed38-4e7f-a18e-507a78ad901d,OIL! Tankstelle München,OIL!,Eversbuschstraße,33,80999,München,48.1807,11.4609,2014-03-18 16:45:31+01,{}\n" +
        '44e2bdb7-13e3-4156-8576-8326cdd20459,"bft, Nord",Freie Tankstelle,Schellengasse,53,36304,Alsfeld,50.752,9.279,2014-03-18 16:45:31+01,{}\n',
      "2026-11-25-prices.csv":
        "date,station_uuid,diesel,e5,e10,dieselchange,e5change,e10change\n" +
        "2026-11-25 00:00:06+01,0e18d0d3-ed38-4e7f-a18e-507a78ad901d,1.599,1.749,0.000,1,1,0\n",
    },
    stations: [
      "de-tankerkoenig-0e18d0d3-ed38-4e7f-a18e-507a78ad901d 48.1807 11.4609 OIL! | Eversbuschstraße 33, München | 95,ДТ |",
      "de-tankerkoenig-44e2bdb7-13e3-4156-8576-8326cdd20459 50.752 9.279 bft | Schellengasse 53, Alsfeld | ? |",
    ],
    reasons: {},
  },
  "es-geoportal": {
    files: {
      "EstacionesTerrestres.json": JSON.stringify({
        Fecha: "25/11/2026 10:00:00",
        ListaEESSPrecio: [
          {
            ...{
              "C.P.": "02250",
              Dirección: "AVENIDA CASTILLA LA MANCHA, 26",
              Horario: "L-D: 24H",
            },
            ...{ Latitud: "39,211417", "Longitud (WGS84)": "-1,539167", Municipio: "Abengibre" },
            ...{ Rótulo: "REPSOL", "Tipo Venta": "P", IDEESS: "4375", "Precio Adblue": "" },
            ...{
              "Precio Gasoleo A": "1,479",
              "Precio Gasolina 95 E5": "1,539",
              "Precio Gasolina 98 E5": "",
            },
          },
          {
            ...{ "C.P.": "02152", Dirección: "CALLE SANTA ANA", Horario: "L-V: 08:00-14:00" },
            ...{ Latitud: "38,9", "Longitud (WGS84)": "-1,6", Municipio: "Alatoz" },
            ...{
              Rótulo: "COOPERATIVA",
              "Tipo Venta": "R",
              IDEESS: "5122",
              "Precio Gasoleo A": "1,4",
            },
          },
          {
            ...{ Dirección: "CARRETERA N-330, KM 1", Horario: "L-V: 08:00-14:00; S: 09:00-13:00" },
            ...{ Latitud: "38,95", "Longitud (WGS84)": "-1,65", Municipio: "Almansa" },
            ...{
              Rótulo: "SIN ROTULO",
              "Tipo Venta": "P",
              IDEESS: "5123",
              "Precio Gasoleo B": "1,1",
            },
          },
        ],
        ResultadoConsulta: "OK",
      }),
    },
    stations: [
      "es-geoportal-4375 39.211417 -1.539167 Repsol | AVENIDA CASTILLA LA MANCHA, 26, Abengibre | 95,ДТ | 24/7",
    ],
    reasons: { "left-out": 1, "lpg-only": 1 },
  },
  "gb-retailers": {
    files: {
      "prices.json": JSON.stringify({
        last_updated: "25/11/2026 10:00:00",
        stations: [
          {
            ...{
              site_id: "gcqqm0h2v1x1",
              brand: "TESCO",
              address: "GATE LANE, SUTTON",
              postcode: "B73 5TT",
            },
            ...{
              location: { latitude: 52.54, longitude: -1.83 },
              prices: { E10: 132.9, B7: 139.9 },
            },
          },
        ],
      }),
    },
    stations: [
      "gb-retailers-gcqqm0h2v1x1 52.54 -1.83 Tesco | GATE LANE, SUTTON, B73 5TT | 95,ДТ |",
    ],
    reasons: {},
  },
  "gb-fuel-finder": {
    files: {
      "pfs.json": JSON.stringify([
        {
          node_id: "9b275ab576eeba3c6677984be15ee22a74e54fdfe8e5ea700e84a03178dc4ac1",
          ...{ trading_name: "MILL LANE", brand_name: "SHELL", permanent_closure: false },
          location: {
            address_line_1: "MILL LANE",
            city: "MAIDENHEAD",
            latitude: "51.5268",
            longitude: -0.7,
          },
          opening_times: {
            usual_days: Object.fromEntries(days.map((day) => [day, { is_24_hours: true }])),
          },
          fuel_types: ["E10", "B7_STANDARD"],
        },
        {
          ...{ node_id: "a1", trading_name: "GONE", brand_name: "BP", permanent_closure: true },
          ...{ location: { latitude: 51.6, longitude: -0.8 }, fuel_types: ["E10"] },
        },
      ]),
    },
    stations: ["gb-fuel-finder-HASH 51.5268 -0.7 Shell | MILL LANE, MAIDENHEAD | 95,ДТ | 24/7"],
    reasons: { "left-out": 1 },
  },
  "pt-dgeg": {
    files: {
      "postos.json": JSON.stringify({
        status: true,
        resultado: ["Gasolina simples 95", "Gasóleo simples", "GPL Auto"].map((Combustivel) => ({
          ...{ Id: 65167, Nome: "Posto da Represa", Marca: "GALP", Combustivel, Preco: "1,719 €" },
          ...{
            Morada: "Sítio da Represa",
            Localidade: "Vilar Formoso",
            Latitude: 40.61817,
            Longitude: -6.84339,
          },
        })),
      }),
    },
    stations: ["pt-dgeg-65167 40.61817 -6.84339 Galp | Sítio da Represa, Vilar Formoso | 95,ДТ |"],
    reasons: {},
  },
  osm: {
    files: {
      "map.osm": `<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6"><node id="5" lat="55.5" lon="37.5"><tag k="amenity" v="fuel"/><tag k="brand" v="Shell"/></node></osm>
`,
    },
    stations: ["n5 55.5 37.5 Shell |  | ? |"],
    reasons: {},
  },
  "osm-overpass": {
    files: {
      "overpass.json": JSON.stringify({
        elements: [
          { type: "way", id: 5, center: { lat: 55.5, lon: 37.5 }, tags: { amenity: "fuel" } },
        ],
      }),
    },
    stations: ["w5 55.5 37.5  |  | ? |"],
    reasons: {},
  },
  "osm-geojson": {
    files: {
      "stations.geojson": JSON.stringify({
        type: "FeatureCollection",
        features: [
          {
            ...{ type: "Feature", id: "node/5", properties: { amenity: "fuel" } },
            geometry: { type: "Point", coordinates: [37.5, 55.5] },
          },
        ],
      }),
    },
    stations: ["n5 55.5 37.5  |  | ? |"],
    reasons: {},
  },
};
