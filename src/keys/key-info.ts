/** A key with its partner's switches and limits, as the key store keeps it in memory. */
export interface KeyInfo {
  id: number;
  kind: "secret" | "publishable";
  partnerId: number;
  domains: readonly string[];
  ips: readonly string[];
  confirmMin: number;
  reports: boolean;
  massNoLimit: number;
  expiresAt: number | null;
  partner: {
    id: number;
    name: string;
    rpm: number;
    daily: number;
    enabled: boolean;
    bindIps: boolean;
    acceptRemote: boolean;
    /** Seconds that rectangles may be cached; null for the default, 0 for never. */
    cacheTtlS: number | null;
  };
}
