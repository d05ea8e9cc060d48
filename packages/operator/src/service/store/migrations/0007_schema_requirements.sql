CREATE TABLE "schema_requirements" (
	"migrations" integer PRIMARY KEY NOT NULL
);
