/** The address of the map library's worker (web/build/map-library.ts). */
declare module "virtual:map-worker-url" {
  const url: string;
  export default url;
}
