#include "contract.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

#include "api.h"
#include "embedded_tests.h"

namespace fourfold::tests {

namespace {

enum Kind : unsigned {
    null_kind = 1,
    boolean_kind = 2,
    integer_kind = 4,
    number_kind = 8,
    string_kind = 16,
    array_kind = 32,
    object_kind = 64
};
constexpr unsigned kAnyKind = 127;

unsigned kind_named(std::string_view name) {
    constexpr std::string_view kNames[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
    const auto at = std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames);
    return 1U << static_cast<unsigned>(at);
}

// Of a value, all kinds that it belongs to.
unsigned kinds_of(const Json& value) {
    switch (value.type()) {
        case Json::value_t::null:
            return null_kind;
        case Json::value_t::boolean:
            return boolean_kind;
        case Json::value_t::string:
            return string_kind;
        case Json::value_t::array:
            return array_kind;
        case Json::value_t::object:
            return object_kind;
        case Json::value_t::number_integer:
        case Json::value_t::number_unsigned:
            return integer_kind | number_kind;
        case Json::value_t::number_float:
            return std::isfinite(value.get<double>()) ? number_kind : 0U;
        default:
            return 0;
    }
}

// The member at `key`, or null.
const Json& member(const Json& object, const char* key) {
    static const Json none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

// A schema as it is checked: references resolved, parts of an object merged, keys sorted as those of a value are.
struct Schema {
    struct Property {
        std::string key;
        const Schema* schema = nullptr;
        bool required = false;
        std::size_t id = 0;  // in Contract::met
    };
    std::string name;
    unsigned kinds = kAnyKind;
    std::vector<Json> values;  // when not empty: one of these
    double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
    std::size_t min_size = 0, max_size = std::numeric_limits<std::size_t>::max();  // of a list or a text
    const Schema* items = nullptr;
    std::vector<Property> properties;
    bool open = false;             // any other key too
    const Schema* rest = nullptr;  // what other keys hold
    bool aligned = false;          // all its lists have the same length
    std::vector<const Schema*> branches;
};

class Contract {
 public:
    Contract() : catalog_(json(api::catalog())) {
        for (const embedded::File& file : embedded::contract) {
            const Json read = json(file.text);
            for (const auto& [name, schema] : member(read, "$defs").items()) defs_[name] = schema;
            if (read.contains("x-answer")) functions_[std::string(file.name)] = read;
        }
    }
    const Schema& definition(std::string_view name) { return *named(std::string(name)); }
    const Schema& of(std::string_view function, const char* which) {
        const Schema*& known = known_[std::string(function) + "." + which];
        if (known == nullptr) known = compile(functions_[std::string(function)][which], std::string(function) + "." + which);
        return *known;
    }
    std::vector<bool> met;
    std::vector<std::string> keys;

 private:
    using Properties = std::map<std::string, Schema::Property>;

    static std::string name_of(const Json& ref) {
        const std::string text = ref["$ref"];
        return text.substr(text.rfind('/') + 1);
    }
    Schema& fresh(std::string name) {
        schemas_.emplace_back();
        schemas_.back().name = std::move(name);
        return schemas_.back();
    }
    const Schema* named(const std::string& name) {
        const Schema*& known = known_[name];
        if (known != nullptr) return known;
        Schema& schema = fresh(name);
        known = &schema;  // before it is filled: it may lead to itself
        fill(schema, defs_[name]);
        for (const auto& [key, property] : parts(name)) schema.properties.push_back(property);
        if (!schema.properties.empty()) schema.kinds = object_kind;
        return known;
    }
    const Schema* compile(const Json& source, const std::string& name) {
        if (source.contains("$ref")) return named(name_of(source));
        Schema& schema = fresh(name);
        fill(schema, source);
        return &schema;
    }

    void fill(Schema& schema, const Json& source) {
        if (const auto type = source.find("type"); type != source.end()) {
            schema.kinds = 0;
            for (const Json& one : type->is_array() ? *type : Json::array({*type})) schema.kinds |= kind_named(one.get<std::string>());
        }
        if (source.contains("const")) schema.values.push_back(source["const"]);
        for (const Json& value : member(source, "enum")) schema.values.push_back(value);
        if (source.contains("x-catalog"))
            for (const Json& entry : catalog_[source["x-catalog"].get<std::string>()]) schema.values.push_back(entry["id"]);
        schema.min = source.value("minimum", schema.min);
        schema.max = source.value("maximum", schema.max);
        schema.min_size = source.value("minItems", source.value("minLength", schema.min_size));
        schema.max_size = source.value("maxItems", schema.max_size);
        schema.aligned = source.value("x-aligned", false);
        for (const Json& branch : member(source, "oneOf")) schema.branches.push_back(compile(branch, schema.name));
        if (source.contains("items")) schema.items = compile(source["items"], schema.name);
        if (const auto rest = source.find("additionalProperties"); rest != source.end()) {
            schema.open = true;
            if (rest->is_object()) schema.rest = compile(*rest, schema.name);
        }
    }

    // What an object has: the parts that it is made of, its own keys, fields of the catalogue.
    const Properties& parts(const std::string& name) {
        const auto [entry, is_new] = parts_.try_emplace(name);
        if (is_new) collect(defs_[name], name, entry->second);
        return entry->second;
    }
    void collect(const Json& source, const std::string& name, Properties& found) {
        for (const Json& part : member(source, "allOf"))
            for (const auto& [key, property] : parts(name_of(part))) found[key] = property;
        if (const auto row = source.find("x-columns"); row != source.end())
            for (const auto& [key, property] : parts(name_of(*row))) found[key] = {key, list_of(property.schema), false, property.id};
        for (const auto& [key, property] : member(source, "properties").items())
            found[key] = declared(name, key, compile(property, name + "." + key));
        for (const Json& key : member(source, "required")) found[key.get<std::string>()].required = true;
        if (source.contains("x-fields")) collect_fields(source["x-fields"], name, found);
    }
    Schema::Property declared(const std::string& name, const std::string& key, const Schema* schema) {
        met.push_back(false);
        keys.push_back(name + "." + key);
        return {key, schema, false, keys.size() - 1};
    }

    void collect_fields(const Json& spec, const std::string& name, Properties& found) {
        const auto listed = [&](const char* list, const std::string& key) {
            const auto given = spec.find(list);
            return given != spec.end() && (*given == true || std::find(given->begin(), given->end(), key) != given->end());
        };
        for (const Json& field : catalog_["fields"]) {
            const std::string key = field["key"];
            if (spec.contains("only") ? !listed("only", key) : listed("without", key)) continue;
            const Schema* schema = field_schema(field, field.value("auto", false) && listed("auto", key));
            found[key] = declared(name, key, spec.value("lists", false) ? list_of(schema) : schema);
            found[key].required = spec.value("required", false);
        }
    }

    const Schema* field_schema(const Json& field, bool may_be_auto) {
        const std::string type = field["type"];
        Json source = Json::object(), automatic = Json::object();
        source["type"] = type == "choice" || type == "set" || type == "text" ? "string" : type;
        if (field.contains("min")) source["minimum"] = field["min"], source["maximum"] = field["max"];
        if (type == "choice")
            for (const Json& choice : field["choices"]) source["enum"].push_back(choice["id"]);
        const std::string name = "field " + field["key"].get<std::string>();
        if (!may_be_auto) return compile(source, name);
        automatic["const"] = "auto";
        Json either = Json::object();
        either["oneOf"] = Json::array({source, automatic});
        return compile(either, name);
    }

    const Schema* list_of(const Schema* items) {
        Schema& list = fresh(items->name + " list");
        list.kinds = array_kind;
        list.items = items;
        return &list;
    }

    const Json catalog_;
    std::map<std::string, Json, std::less<>> defs_, functions_;
    std::map<std::string, const Schema*, std::less<>> known_;
    std::map<std::string, Properties, std::less<>> parts_;
    std::deque<Schema> schemas_;
};

Contract& contract() {
    static Contract read;
    return read;
}

// ---- checking
struct Path {
    const Path* up;
    std::string_view key;
    std::size_t index = 0;
    std::string text() const {
        if (up == nullptr) return std::string(key);
        return up->text() + (key.empty() ? "[" + std::to_string(index) + "]" : "." + std::string(key));
    }
};

class Check {
 public:
    // A request may write 8.0 for 8.
    explicit Check(bool of_request) : of_request_(of_request) {}

    bool fits(const Json& value, const Schema& schema, const Path& path) {
        unsigned kinds = kinds_of(value);
        if (of_request_ && kinds == number_kind && value.get<double>() == std::floor(value.get<double>())) kinds |= integer_kind;
        if ((kinds & schema.kinds) == 0) return wrong(path, value, "not of the right type");
        if (!schema.values.empty() && std::find(schema.values.begin(), schema.values.end(), value) == schema.values.end())
            return wrong(path, value, "not one of the values");
        if (!schema.branches.empty()) {
            const auto branch = std::find_if(schema.branches.begin(), schema.branches.end(),
                                             [&](const Schema* one) { return is_meant(value, kinds, *one); });
            return branch == schema.branches.end() ? wrong(path, value, "none of the alternatives") : fits(value, **branch, path);
        }
        if ((kinds & number_kind) != 0) {
            const double number = value.get<double>();
            return (number >= schema.min && number <= schema.max) || wrong(path, value, "out of range");
        }
        if (value.is_string()) return value.get_ref<const std::string&>().size() >= schema.min_size || wrong(path, value, "too short");
        if (value.is_array()) return list_fits(value, schema, path);
        return !value.is_object() || (object_fits(value, schema, path) && (!schema.aligned || lists_agree(value, path)));
    }
    std::string problem;

 private:
    bool wrong(const Path& path, const Json& value, const std::string& what) {
        problem = path.text() + ": " + what + ": " + value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 300);
        return false;
    }

    // Whether a value is of this alternative, as far as its kind and the keys tell that may hold one value only.
    bool is_meant(const Json& value, unsigned kinds, const Schema& schema) const {
        if ((kinds & schema.kinds) == 0) return false;
        if (!schema.values.empty()) return std::find(schema.values.begin(), schema.values.end(), value) != schema.values.end();
        if (!schema.branches.empty())
            return std::any_of(schema.branches.begin(), schema.branches.end(),
                               [&](const Schema* one) { return is_meant(value, kinds, *one); });
        if (!value.is_object()) return true;
        return std::all_of(schema.properties.begin(), schema.properties.end(), [&](const Schema::Property& property) {
            const bool tells = property.required && (property.schema->values.size() == 1 || property.schema->kinds == null_kind);
            const bool names = property.required && property.schema->kinds == array_kind;  // "nodes" or "gpus"
            if (!tells && !names) return true;
            const auto found = value.find(property.key);
            if (found == value.end()) return false;
            return !tells || (property.schema->kinds == null_kind ? found->is_null() : *found == property.schema->values[0]);
        });
    }

    bool list_fits(const Json& list, const Schema& schema, const Path& path) {
        if (list.size() < schema.min_size || list.size() > schema.max_size) return wrong(path, list, "wrong length");
        if (schema.items == nullptr) return true;
        for (std::size_t i = 0; i < list.size(); ++i)
            if (!fits(list[i], *schema.items, {&path, {}, i})) return false;
        return true;
    }

    bool object_fits(const Json& object, const Schema& schema, const Path& path) {
        auto property = schema.properties.begin();
        const auto missed = [&](const std::string* until) {  // a required key that comes before this one
            for (; property != schema.properties.end() && (until == nullptr || property->key < *until); ++property)
                if (property->required) return !wrong(path, object, "no " + property->key);
            return false;
        };
        for (auto entry = object.begin(); entry != object.end(); ++entry) {
            const std::string& key = entry.key();
            if (missed(&key)) return false;
            const Path inside{&path, key};
            if (property != schema.properties.end() && property->key == key) {
                contract().met[property->id] = true;
                if (!fits(*entry, *property->schema, inside)) return false;
                ++property;
            } else if (!schema.open && schema.kinds == object_kind) {
                return wrong(inside, *entry, "not in the contract");
            } else if (schema.rest != nullptr && !fits(*entry, *schema.rest, inside)) {
                return false;
            }
        }
        return !missed(nullptr);
    }

    bool lists_agree(const Json& object, const Path& path) {
        std::size_t size = std::numeric_limits<std::size_t>::max();
        for (const Json& list : object) {
            if (!list.is_array()) continue;
            if (size != std::numeric_limits<std::size_t>::max() && size != list.size())
                return wrong(path, list, "lists of different lengths");
            size = list.size();
        }
        return true;
    }

    const bool of_request_;
};

std::string check(const Json& value, const Schema& schema, std::string_view name, bool of_request = false) {
    Check checked(of_request);
    const Path path{nullptr, name};
    return checked.fits(value, schema, path) ? "" : checked.problem;
}

}  // namespace

std::string answer_defect(const Json& answer, std::string_view function) {
    return check(answer, contract().of(function, "x-answer"), function);
}
std::string answer_defect(const std::string& text, std::string_view function) { return answer_defect(json(text), function); }

std::string request_defect(const Json& request, std::string_view function) {
    return check(request, contract().of(function, "x-request"), function, true);
}

std::string defect(const Json& value, std::string_view definition) { return check(value, contract().definition(definition), definition); }

std::vector<std::string> keys_not_met() {
    std::vector<std::string> list;
    const Contract& read = contract();
    for (std::size_t i = 0; i < read.met.size(); ++i)
        if (!read.met[i]) list.push_back(read.keys[i]);
    return list;
}

}  // namespace fourfold::tests
