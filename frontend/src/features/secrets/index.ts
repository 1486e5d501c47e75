export { SecretsSettings } from "./components/secrets-settings";
