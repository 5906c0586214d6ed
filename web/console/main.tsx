import "#web/kit/tokens.css";
