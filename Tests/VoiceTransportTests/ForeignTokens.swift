/// Tokens that another implementation has made (HMAC-SHA-256 of the RFC 7519 form), valid from 1000 to 2000,
/// with the key "key" and the secret 0123456789abcdef0123456789abcdef.
let foreignTokens: [String: String] = [
    "genuine":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlfX0"
        + ".1X2P-gSztF8jdVPKRpVmpFDMXxZAhB86DVla2l_dmGQ",
    "rights":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlLCJ"
        + "jYW5QdWJsaXNoIjpmYWxzZSwiY2FuU3Vic2NyaWJlIjpmYWxzZX19.kv3FX21YccqbqBuNjVCnEOZ4jvOUPuWf8blh"
        + "gKq0fVo",
    "unicode":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJcdTAwZmNuXHUwMGVmY1x1MDBmO"
        + "GRlIiwibmFtZSI6Ilx1ZDgzY1x1ZGY5OSIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l"
        + "0Y2hlbiIsInJvb21Kb2luIjp0cnVlfX0.JzHt0yuhzJDAZkN3UZxMcEMNrqvs6XgykHSPZVOuj68",
    "noExpiry":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwidmlkZW8iOnsicm9vbSI6ImtpdGNoZW4iLCJyb29tSm9pbiI6dHJ1ZX19.6m7VeZi_kGzVwB"
        + "ySH6RNlSPXMFJwvEVdVtsuRTWR2Zo",
    "textExpiry":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoiMjAwMCIsInZpZGVvIjp7InJvb20iOiJraXRjaGVuIiwicm9vbUpvaW4iOnRydWV"
        + "9fQ.F3pTnowerDsahJQc-4ejW2M36hBMhqQU7VQoQeTFm-Q",
    "textRight":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlLCJ"
        + "jYW5QdWJsaXNoIjoiZmFsc2UifX0.6vxqH0nIJ-pM11WpTf4UzXWWz49uQsBqOlwyUAKqrKs",
    "noVideo":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwfQ.SGYkb79hjr0oxsMtsY0iho2CHIhKLqWGbomBolphBx8",
    "videoIsText":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6ImtpdGNoZW4ifQ.GSKpLcT8PImmwxn1sYtLSAFgfjURI4Ux"
        + "HfFFIfa93zM",
    "noSubject":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJuYW1lIjoiQWxpY2UiLCJuYmYiOjEwMDAsI"
        + "mV4cCI6MjAwMCwidmlkZW8iOnsicm9vbSI6ImtpdGNoZW4iLCJyb29tSm9pbiI6dHJ1ZX19.SILRymLIg67adp35P9"
        + "8ElntQgo5k97PMorJOgpeV8bs",
    "unknownKey":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJvdGhlciIsInN1YiI6ImFsaWNlIiwibmFtZSI6IkFsa"
        + "WNlIiwibmJmIjoxMDAwLCJleHAiOjIwMDAsInZpZGVvIjp7InJvb20iOiJraXRjaGVuIiwicm9vbUpvaW4iOnRydWV"
        + "9fQ.JG3pn0lamHEqoCU4pA7zd0Dwe9bsg4pKkMylx_PGyhM",
    "otherSecret":
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlfX0"
        + ".bC6zlXMqXFo7jRA035m11x9W0_X_TvmDLdFjn3GBQjE",
    "hs512Header":
        "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlfX0"
        + ".acoKzC6HsELEV5Fco9MEc_3pwYQk6gOeJc2dxxnacx8",
    "rs256Header":
        "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZ"
        + "SIsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlfX0"
        + ".UYDkcU9Yd5of8BQw65CHlAbnbylkF1ntq6SJlPf2Uso",
    "none":
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZS"
        + "IsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlfX0.",
    "noneSigned":
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpc3MiOiJrZXkiLCJzdWIiOiJhbGljZSIsIm5hbWUiOiJBbGljZS"
        + "IsIm5iZiI6MTAwMCwiZXhwIjoyMDAwLCJ2aWRlbyI6eyJyb29tIjoia2l0Y2hlbiIsInJvb21Kb2luIjp0cnVlfX0."
        + "8UZKnqccVLmIEN6ubz0SKwIor7wyxlCCDpQTBTO4T9Q",
]
